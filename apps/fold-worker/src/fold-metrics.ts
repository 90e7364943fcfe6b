/** What the fold worker and its parts tell, as metrics; docs/operating/metrics.md lists them. */
import type { FoldMetrics, FoldWorker } from '@tidemark/libs-fold';
import type { ServiceParts } from '@tidemark/libs-service-kit';

export function foldMetrics({ metrics }: ServiceParts): FoldMetrics {
  const ops = metrics.counter('tidemark_fold_ops_total', 'Ops that the mark passed, by what became of them.', [
    'outcome',
  ]);
  const replayed = metrics.counter('tidemark_fold_replayed_ops_total', 'Ops that a rebuild folded again.');
  const seqs = metrics.counter('tidemark_fold_seqs_total', 'Seqs that were missing, by what became of them.', ['end']);
  const epochs = metrics.counter('tidemark_fold_epochs_total', 'Epochs built, switched to, given up.', ['event']);
  const conflicts = metrics.counter('tidemark_fold_mark_conflicts_total', 'Marks that another worker saved first.');
  const bounds = metrics.counter('tidemark_fold_bounds_total', 'Looks ahead that the bound on ranges cut short.');
  return {
    ops: (outcome, count) => ops.inc({ outcome }, count),
    replayed: (count) => replayed.inc(count),
    seqs: (end, count) => seqs.inc({ end }, count),
    epoch: (event) => epochs.inc({ event }),
    conflict: () => conflicts.inc(),
    bound: () => bounds.inc(),
  };
}

/** How far the worker is behind, as it is when it is asked. */
export function watchStatus(worker: Pick<FoldWorker, 'status'>, { metrics }: ServiceParts): void {
  const status = () => worker.status();
  metrics.gaugeOf(
    'tidemark_fold_pending_streams',
    'Streams that have, or may have, unfolded ops.',
    () => status().pending,
  );
  metrics.gaugeOf('tidemark_fold_lag_ops', 'Ops known of and not folded.', () => Number(status().lagOps));
  metrics.gaugeOf('tidemark_fold_held_ops', 'Of these, the ones behind an op that the log does not show yet.', () =>
    Number(status().heldOps),
  );
  metrics.gaugeOf(
    'tidemark_fold_stuck_streams',
    'Streams whose last turn brought nothing, 20 at most.',
    () => status().stuck.length,
  );
  metrics.gaugeOf(
    'tidemark_fold_oldest_seconds',
    'Since the oldest change that is not folded was heard of.',
    () => status().oldestMs / 1000,
  );
  metrics.gaugeOf(
    'tidemark_fold_chores',
    'Rebuilds, rows of old epochs to be removed, and the sweep.',
    () => status().chores,
  );
}

/** Of a log in DynamoDB. */
export function logMetrics({ metrics }: ServiceParts) {
  const holes = metrics.counter(
    'tidemark_dynamodb_hole_seqs_total',
    'Seqs without an op that reads came upon, by what became of them.',
    ['end'],
  );
  return { round: () => {}, collision: () => {}, hole: (end: string, seqs: number) => holes.inc({ end }, seqs) };
}

/** Of a feed of DynamoDB Streams. */
export function streamsMetrics({ metrics }: ServiceParts) {
  const calls = metrics.counter('tidemark_feed_calls_total', 'GetRecords calls, which AWS bills; empty pages too.');
  const records = metrics.counter('tidemark_feed_records_total', 'Records of the stream, by what they were of.', [
    'kind',
  ]);
  const shards = metrics.counter('tidemark_feed_shard_events_total', 'How reading shards went on.', ['event']);
  const leases = metrics.counter('tidemark_feed_lease_events_total', 'Leases of shards and census segments.', [
    'event',
  ]);
  const held = metrics.gauge('tidemark_feed_leases', 'Leases that this worker holds.', ['kind']);
  const age = metrics.gauge(
    'tidemark_feed_record_age_seconds',
    'Age of the newest record that was read last; records are trimmed at 86400.',
  );
  const named = metrics.counter('tidemark_feed_census_streams_total', 'Streams that censuses named.');
  return {
    call: () => calls.inc(),
    records: (kind: string, count: number) => records.inc({ kind }, count),
    shard: (event: string) => shards.inc({ event }),
    lease: (event: string) => leases.inc({ event }),
    held: (shardCount: number, segments: number) => {
      held.set({ kind: 'shard' }, shardCount);
      held.set({ kind: 'segment' }, segments);
    },
    recordAgeMs: (ms: number) => age.set(ms / 1000),
    census: (streams: number) => named.inc(streams),
  };
}
