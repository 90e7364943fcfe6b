import { TransactGetItemsCommand } from '@aws-sdk/client-dynamodb';
import { mapError } from '@tidemark/libs-driver-dynamodb';
import { burn, type GapParts, isBusy, judgeGaps, truncated } from './gap-check.ts';
import { COUNTER_SEQ, itemKey, toCounter } from './op-item.ts';
import { JUDGING_MS_MAX } from './read.ts';

/** A TransactGetItems reads 100 items, one of which is the counter. */
const SEQS_MAX = 99n;

/**
 * With an op above, that one is the witness, as for a page (judgeGaps). Without one, nothing but the counter can say that the seqs were
 * given: it is read in one snapshot with them. A transaction that is to write one of them would have to find the counter below it.
 * What is busy is not proved.
 */
export async function burnedThrough(parts: GapParts, stream: string, after: bigint): Promise<bigint> {
  if (parts.holes === 'hold') return after;
  const { table, burned, clock } = parts;
  const from = after > 0n ? after : 0n;
  const known = burned.of(stream).around(from + 1n)?.to ?? from;
  const [above] = await table.seqsAbove(stream, from, 1);
  if (above !== undefined) {
    const endsAtMs = clock.monotonic() + JUDGING_MS_MAX;
    const { through } = await judgeGaps(parts, stream, from, [{ seq: above, bytes: 0 }], () => endsAtMs);
    const proved = through < above ? through : above - 1n;
    return proved > from ? proved : after;
  }
  const proved = await burnedTail(parts, stream, known);
  return proved > from ? proved : after;
}

async function burnedTail(parts: GapParts, stream: string, after: bigint): Promise<bigint> {
  const { table } = parts;
  const first = after + 1n;
  const counter = await table.counter(stream);
  if (counter.truncatedThrough >= first) throw truncated(stream, counter.truncatedThrough);
  if (counter.next < first) return after;
  const to = counter.next < after + SEQS_MAX ? counter.next : after + SEQS_MAX;
  const seqs = Array.from({ length: Number(to - after) }, (_, i) => first + BigInt(i));
  const get = (seq: bigint) => ({
    Get: { TableName: table.name, Key: itemKey(stream, seq), ProjectionExpression: 'stream_id, seq, next_seq' },
  });
  const command = new TransactGetItemsCommand({ TransactItems: [COUNTER_SEQ, ...seqs].map(get) });
  try {
    const { Responses = [] } = await table.client.send(command);
    const { next } = toCounter(Responses[0]?.Item);
    const written = seqs.findIndex((seq, i) => seq > next || Responses[i + 1]?.Item !== undefined);
    const through = written === -1 ? to : after + BigInt(written);
    if (through > after)
      burn(parts, stream, { from: first, to: through, above: through + 1n, isLast: through === next });
    return through;
  } catch (thrown) {
    if (isBusy(thrown)) return after;
    throw mapError(thrown, table.name);
  }
}
