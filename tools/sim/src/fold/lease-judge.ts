import type { Item } from '../dynamo/item.ts';
import type { PlainTable, PlainWrite } from '../dynamo/plain-table.ts';
import type { FoldJudge } from './fold-judge.ts';
import type { Shard } from './streams/shard.ts';
import type { SimStreams } from './streams/sim-streams.ts';

const BEGIN = -1n;
const END = 10n ** 40n;

/**
 * Watches the checkpoints of shards: they never go back, never pass a record that nobody was given or whose effect is not stored (FLD-9), and
 * no shard is called finished before it was read to its end (FLD-4).
 */
export function judgeLeases(table: PlainTable, streams: SimStreams, judge: FoldJudge): void {
  table.onWrite(({ before, after }: PlainWrite) => {
    const [, label, id] = /^shard\/(.+)\/([^/]+)$/.exec(after?.['leaseKey']?.S ?? '') ?? [];
    if (after === null || label === undefined || id === undefined) return;
    const shard = streams.everShard(id);
    if (shard === undefined) return judge.wrong(`FLD-4: a lease of ${id}, which never was`);
    const [from, to] = [checkpointOf(before), checkpointOf(after)];
    if (numberOf(before, 'leaseEpoch') > numberOf(after, 'leaseEpoch'))
      judge.wrong(`FLD-5: the lease epoch of ${id} went back`);
    // Back to the oldest record that is there, where the one that it stood at is not.
    const oldest = shard.from(shard.begin, 1)[0]?.sequenceNumber ?? END;
    const isTrimmed = to === BEGIN && from < oldest;
    if (to < from && !isTrimmed) judge.wrong(`FLD-5: the checkpoint of ${id} went back from ${from} to ${to}`);
    if (to > from) judgeMove(streams, shard, from, to, judge);
  });
}

function judgeMove(streams: SimStreams, shard: Shard, from: bigint, to: bigint, judge: FoldJudge): void {
  const isGone = !streams.isThere(shard);
  if (to === END && !shard.isFinished && !isGone) judge.wrong(`FLD-4: ${shard.id} is called finished before its end`);
  for (const { change, sequenceNumber, deliveries } of shard.history) {
    if (sequenceNumber <= from || sequenceNumber > to) continue;
    // What was trimmed is found by a census, not by the shard.
    const isTrimmed = isGone || sequenceNumber < (shard.from(shard.begin, 1)[0]?.sequenceNumber ?? END);
    if (deliveries === 0 && !isTrimmed)
      judge.wrong(`FLD-9: ${shard.id} is checkpointed at ${to}, and nobody was given ${sequenceNumber}`);
    const isOp = change.seq > 0n && change.after !== null;
    if (isOp && deliveries > 0 && !isTrimmed && !judge.covers(change.stream, change.seq))
      judge.wrong(`FLD-9: ${shard.id} is checkpointed at ${to}, and ${change.stream}/${change.seq} is not folded`);
  }
}

function checkpointOf(row: Item | null): bigint {
  const text = row?.['checkpoint']?.S ?? 'TRIM_HORIZON';
  return text === 'TRIM_HORIZON' ? BEGIN : text === 'SHARD_END' ? END : BigInt(text);
}

const numberOf = (row: Item | null, name: string) => Number(row?.[name]?.N ?? '0');
