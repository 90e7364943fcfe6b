import { type CancellationReason, TransactGetItemsCommand } from '@aws-sdk/client-dynamodb';
import { answerOf, mapError, nameOf } from '@tidemark/libs-driver-dynamodb';
import { type Clock, Fault } from '@tidemark/libs-kernel';
import type { BurnedMemory, SeqRange } from './burned-seqs.ts';
import { type Gap, type Group, groupsOf, type ShownOp } from './gap-groups.ts';
import type { DynamoLog, DynamoMetrics } from './metrics.ts';
import { itemKey } from './op-item.ts';
import type { OpsTable } from './ops-table.ts';
import type { Recent } from './recent.ts';

export interface GapParts {
  readonly table: OpsTable;
  readonly clock: Clock;
  readonly log: DynamoLog;
  readonly metrics: DynamoMetrics;
  readonly burned: BurnedMemory;
  readonly longRuns: boolean;
  readonly legacyHoles: 'hold' | 'pass';
  readonly holes: 'judge' | 'hold';
  /** Of each stream, the hole that was last said to be held because its counter stands behind. */
  readonly held: Recent<{ at: bigint | null }>;
}

export interface Judged {
  /** No op comes to be at this seq or below it, but for those shown. */
  readonly through: bigint;
  /**
   * Why it ends there: all is judged; a hole may still be filled, or cannot be judged now; one is held because its counter stands behind,
   * which an append alone can change, and no waiting, or because no hole of this table is judged; the time is over.
   */
  readonly end: 'all' | 'hole' | 'held' | 'time';
}

/** At once, for a long run. */
const GROUPS_MAX = 8;

/**
 * Judges what is missing between `after` and the ops that a Query showed, from below, until a hole that may still be filled.
 *
 * A hole is burned when one TransactGetItems finds it absent and an op above it, the witness, present. The Query that showed the witness may
 * be ahead of the snapshot; the witness in the same snapshot says that it is not. Whatever transaction wrote below the witness is in that
 * snapshot too, or will fail: it would have to take a seq below the counter. The counter itself is read afterwards, outside the transaction,
 * because every append writes it, and a transaction that reads it would meet every writer of a busy stream.
 *
 * What is judged burned is remembered. `endsAtMs` bounds the time, on the monotonic clock, after the first groups.
 */
export async function judgeGaps(
  parts: GapParts,
  stream: string,
  after: bigint,
  shown: readonly ShownOp[],
  endsAtMs: () => number,
): Promise<Judged> {
  const last = shown.at(-1)?.seq ?? after;
  const groups = groupsOf(after, shown, parts.burned.of(stream), parts.longRuns);
  for (let size = 1; ; size = GROUPS_MAX) {
    const batch = take(groups, size);
    const first = batch[0];
    if (first === undefined) return { through: last, end: 'all' };
    if (parts.holes === 'hold') {
      parts.metrics.hole('held', 1);
      return { through: first.from - 1n, end: 'held' };
    }
    if (parts.clock.monotonic() >= endsAtMs()) return { through: first.from - 1n, end: 'time' };
    const absent = await Promise.all(batch.map((group) => isAbsent(parts, stream, group)));
    const hidden = absent.indexOf(false);
    const held = await settle(parts, stream, hidden === -1 ? batch : batch.slice(0, hidden));
    const open = held ?? batch[hidden]?.from;
    if (open === undefined) continue;
    parts.metrics.hole('held', 1);
    return { through: open - 1n, end: held === null ? 'hole' : 'held' };
  }
}

function take(groups: Iterator<Group>, size: number): Group[] {
  const taken: Group[] = [];
  while (taken.length < size) {
    const { done, value } = groups.next();
    if (done === true) break;
    taken.push(value);
  }
  return taken;
}

/** False when one of the holes holds an op, when the snapshot is older than the witness, or when there is none to be had now. */
async function isAbsent({ table }: GapParts, stream: string, group: Group): Promise<boolean> {
  if (group.isLongRun && !(await isStillEmpty(table, stream, group))) return false;
  const get = (seq: bigint) => ({
    Get: { TableName: table.name, Key: itemKey(stream, seq), ProjectionExpression: 'stream_id, seq' },
  });
  const command = new TransactGetItemsCommand({ TransactItems: [...group.holes, group.witness].map(get) });
  try {
    const { Responses = [] } = await table.client.send(command);
    const isThere = (i: number): boolean => Responses[i]?.Item !== undefined;
    return isThere(group.holes.length) && !group.holes.some((_, i) => isThere(i));
  } catch (thrown) {
    if (isBusy(thrown)) return false;
    throw mapError(thrown, table.name);
  }
}

async function isStillEmpty(table: OpsTable, stream: string, { gaps }: Group): Promise<boolean> {
  const { from, to } = gaps[0] as Gap;
  const { items } = await table.keysBetween(stream, from, to);
  return items.length === 0;
}

const PASSING: ReadonlySet<string> = new Set([
  'None',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

/** Nothing but this may be taken for a hole that is not judged yet: a missing right must not look like one. */
export function isBusy(thrown: unknown): boolean {
  if (nameOf(thrown) !== 'TransactionCanceledException') return answerOf(thrown) === 'throttled';
  const { CancellationReasons: reasons = [] } = thrown as {
    readonly CancellationReasons?: readonly CancellationReason[];
  };
  return reasons.length > 0 && reasons.every(({ Code = 'None' }) => PASSING.has(Code));
}

/** Remembers what the groups, all of them absent, prove to be burned; answers the first seq that is held, if any. */
async function settle(parts: GapParts, stream: string, groups: readonly Group[]): Promise<bigint | null> {
  const lowest = groups[0];
  if (lowest === undefined) return null;
  const { next, truncatedThrough } = await parts.table.counter(stream);
  if (truncatedThrough >= lowest.from) throw truncated(stream, truncatedThrough);
  for (const gap of groups.flatMap(({ gaps }) => gaps)) {
    if (next >= gap.above) burn(parts, stream, gap);
    else if (parts.legacyHoles === 'hold') return holdLegacy(parts, stream, gap);
    else passLegacy(parts, stream, gap);
  }
  return null;
}

export function burn({ burned, metrics, log }: GapParts, stream: string, gap: Gap): void {
  // Two readers may have judged it at once.
  for (const { from, to } of burned.of(stream).unknown(gap)) metrics.hole('burned', Number(to - from + 1n));
  burned.add(stream, gap);
  // Once for a run of any length, when its end is reached.
  if (gap.isLast) log.info({ stream, ...shownRange(burned.of(stream).around(gap.to) ?? gap) }, 'burned seqs');
}

/** Said once for each: readers come back to it until an append moves the counter. */
function holdLegacy({ held, log }: GapParts, stream: string, { from, above }: Gap): bigint {
  const last = held.of(stream);
  if (last.at !== from) {
    const fields = { stream, ...shownRange({ from, to: above - 1n }) };
    log.warn(fields, 'the counter stands behind the ops: reads end at missing seqs until the next append');
  }
  last.at = from;
  return from;
}

function passLegacy({ metrics, log }: GapParts, stream: string, gap: Gap): void {
  metrics.hole('legacy', Number(gap.to - gap.from + 1n));
  log.warn({ stream, ...shownRange(gap) }, 'passed missing seqs that the counter stands behind');
}

function shownRange({ from, to }: SeqRange): Readonly<Record<string, string>> {
  return { from: String(from), to: String(to) };
}

export function truncated(stream: string, through: bigint): Fault {
  return new Fault(
    'conflict',
    `stream ${JSON.stringify(stream)}: its ops up to ${through} were removed; read on from there`,
  );
}
