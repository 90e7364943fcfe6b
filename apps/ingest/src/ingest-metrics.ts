import type { IngestMetrics } from '@tidemark/libs-ingest';
import type { Metrics } from '@tidemark/libs-service-kit';

/** What ingest counts, by name; docs/operating/metrics.md says what each means. */
export function ingestMetrics(metrics: Metrics): IngestMetrics {
  const of = ['tenant', 'table'] as const;
  const records = metrics.counter('tidemark_ingest_records_total', 'Records by what became of them.', [...of, 'event']);
  const rejects = metrics.counter('tidemark_ingest_rejected_total', 'Rejected records by why.', [...of, 'reason']);
  const publishes = metrics.counter('tidemark_ingest_published_total', 'Events by what the queue said to them.', [
    ...of,
    'outcome',
  ]);
  const windows = metrics.histogram(
    'tidemark_ingest_window_seconds',
    'Time from when the records of a window were read until their ids were marked.',
    [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
  );
  return {
    count: (event, tenant, table, n) => records.inc({ tenant, table, event }, n),
    rejected: (reason, tenant, table, n) => rejects.inc({ tenant, table, reason }, n),
    published: (outcome, tenant, table, n) => publishes.inc({ tenant, table, outcome }, n),
    window: (ms) => windows.observe(ms / 1000),
  };
}

/** What the dedupe store counts where it is a DynamoDB table. */
export function dedupeTableMetrics(metrics: Metrics) {
  const requests = metrics.counter('tidemark_dedupe_dynamodb_requests_total', 'Calls by what they came to.', [
    'operation',
    'outcome',
  ]);
  const seconds = metrics.histogram(
    'tidemark_dedupe_dynamodb_request_seconds',
    'Time of a call with its repeats.',
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1],
    ['operation'],
  );
  const unprocessed = metrics.counter(
    'tidemark_dedupe_dynamodb_unprocessed_items_total',
    'Items of a commit that were handed back.',
  );
  const shortCircuits = metrics.counter(
    'tidemark_dedupe_dynamodb_short_circuits_total',
    'Reserves that were refused without a call.',
  );
  const hashed = metrics.counter('tidemark_dedupe_hashed_ids_total', 'Ids too long to be kept as they are.', ['table']);
  return {
    request: (operation: string, outcome: string, ms: number) => {
      requests.inc({ operation, outcome });
      seconds.observe({ operation }, ms / 1000);
    },
    unprocessed: (items: number) => unprocessed.inc(items),
    shortCircuit: () => shortCircuits.inc(),
    hashedId: (table: string) => hashed.inc({ table }),
  };
}
