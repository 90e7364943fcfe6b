import { type CancellationReason, TransactGetItemsCommand } from '@aws-sdk/client-dynamodb';
import { type Clock, Fault } from '@tidemark/libs-kernel';
import type { BurnedMemory, SeqRange } from './burned-seqs.ts';
import { answerOf, mapError, nameOf } from './map-error.ts';
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
  /** Of each stream, the hole that was last said to be held because its counter stands behind. */
  readonly held: Recent<{ at: bigint | null }>;
}

/** An op that a Query showed, as a witness: reading it is billed by its size. */
export interface ShownOp {
  readonly seq: bigint;
  readonly bytes: number;
}

export interface Judged {
  /** No op comes to be at this seq or below it, but for those shown. */
  readonly through: bigint;
  /** Why it ends there: all is judged; a hole may still be filled, or cannot be judged now; the time is over. */
  readonly end: 'all' | 'hole' | 'time';
}

/** A TransactGetItems reads 100 items, one of which is the witness. */
const HOLES_MAX = 99;

/** At once, for a long run. */
const GROUPS_MAX = 8;

/** A round stores at most this many ops, so above so many missing seqs nothing of it can be in the making. */
const LONG_RUN_TAIL = 48n;

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
  const groups = groupsOf(parts, stream, after, shown);
  for (let size = 1; ; size = GROUPS_MAX) {
    const batch = take(groups, size);
    const first = batch[0];
    if (first === undefined) return { through: last, end: 'all' };
    if (parts.clock.monotonic() >= endsAtMs()) return { through: first.from - 1n, end: 'time' };
    const absent = await Promise.all(batch.map((group) => isAbsent(parts, stream, group)));
    const hidden = absent.indexOf(false);
    const open = await settle(parts, stream, hidden === -1 ? batch : batch.slice(0, hidden));
    const at = open ?? (hidden === -1 ? null : (batch[hidden] as Group));
    if (at === null) continue;
    parts.metrics.hole('held', at.holes.length);
    return { through: at.from - 1n, end: 'hole' };
  }
}

/** Holes that are judged together. */
interface Group {
  /** The lowest seq that is judged. */
  readonly from: bigint;
  readonly holes: readonly bigint[];
  /** All that is burned when the holes are: these, or a run whose last ones they are. */
  readonly covers: readonly SeqRange[];
  /** Of the covered runs that end in this group: their last seqs. */
  readonly ends: readonly bigint[];
  /** The first op shown above them. */
  readonly above: bigint;
  readonly witness: bigint;
  /** The run is to be looked at once more, because not all of it is among the holes. */
  readonly isLongRun: boolean;
}

function* groupsOf(parts: GapParts, stream: string, after: bigint, shown: readonly ShownOp[]): Generator<Group> {
  const burned = parts.burned.of(stream);
  const witnesses = smallestFrom(shown);
  const group = new GroupInTheMaking();
  let next = after + 1n;
  for (const [i, { seq }] of shown.entries()) {
    for (const run of next < seq ? burned.unknown({ from: next, to: seq - 1n }) : []) {
      if (parts.longRuns && run.to - run.from >= LONG_RUN_TAIL) {
        yield* group.taken();
        yield longRun(run, seq);
        continue;
      }
      for (let from = run.from; from <= run.to;) {
        from = group.add(from, run.to, seq, witnesses[i] as bigint);
        if (group.isFull) yield* group.taken();
      }
    }
    next = seq + 1n;
  }
  yield* group.taken();
}

/** Of each op shown: the smallest of it and those after it. */
function smallestFrom(shown: readonly ShownOp[]): bigint[] {
  const witnesses: bigint[] = [];
  let smallest: ShownOp | undefined;
  for (let i = shown.length - 1; i >= 0; i--) {
    const op = shown[i] as ShownOp;
    if (smallest === undefined || op.bytes <= smallest.bytes) smallest = op;
    witnesses[i] = smallest.seq;
  }
  return witnesses;
}

class GroupInTheMaking {
  #holes: bigint[] = [];
  #covers: SeqRange[] = [];
  #ends: bigint[] = [];
  #above = 0n;
  #witness = 0n;

  get isFull(): boolean {
    return this.#holes.length >= HOLES_MAX;
  }

  /** Takes holes from there on, as many as fit, and answers the first that did not. */
  add(from: bigint, to: bigint, above: bigint, witness: bigint): bigint {
    let next = from;
    while (next <= to && !this.isFull) this.#holes.push(next++);
    this.#covers.push({ from, to: next - 1n });
    if (next > to) this.#ends.push(to);
    this.#above = above;
    this.#witness = witness;
    return next;
  }

  *taken(): Generator<Group> {
    const from = this.#holes[0];
    if (from === undefined) return;
    const [holes, covers, ends] = [this.#holes, this.#covers, this.#ends];
    [this.#holes, this.#covers, this.#ends] = [[], [], []];
    yield { from, holes, covers, ends, above: this.#above, witness: this.#witness, isLongRun: false };
  }
}

/** Its witness is the op right above it, because the seqs that are left out are counted from there. */
function longRun(run: SeqRange, above: bigint): Group {
  const holes: bigint[] = [];
  for (let seq = above - LONG_RUN_TAIL; seq < above; seq++) holes.push(seq);
  return { from: run.from, holes, covers: [run], ends: [run.to], above, witness: above, isLongRun: true };
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

async function isStillEmpty(table: OpsTable, stream: string, { covers }: Group): Promise<boolean> {
  const { from, to } = covers[0] as SeqRange;
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
function isBusy(thrown: unknown): boolean {
  if (nameOf(thrown) !== 'TransactionCanceledException') return answerOf(thrown) === 'throttled';
  const { CancellationReasons: reasons = [] } = thrown as {
    readonly CancellationReasons?: readonly CancellationReason[];
  };
  return reasons.length > 0 && reasons.every(({ Code = 'None' }) => PASSING.has(Code));
}

/** Remembers the groups, all of them absent, as burned; answers the first that may not be passed, if any. */
async function settle(parts: GapParts, stream: string, groups: readonly Group[]): Promise<Group | null> {
  const lowest = groups[0];
  if (lowest === undefined) return null;
  const { next, truncatedThrough } = await parts.table.counter(stream);
  if (truncatedThrough >= lowest.from) throw truncated(stream, truncatedThrough);
  for (const group of groups) {
    if (next >= group.above) burn(parts, stream, group);
    else if (parts.legacyHoles === 'hold') return holdLegacy(parts, stream, group);
    else passLegacy(parts, stream, group);
  }
  return null;
}

function burn({ burned, metrics, log }: GapParts, stream: string, { covers, ends }: Group): void {
  for (const range of covers) {
    // Two readers may have judged it at once.
    for (const { from, to } of burned.of(stream).unknown(range)) metrics.hole('burned', Number(to - from + 1n));
    burned.add(stream, range);
  }
  for (const end of ends)
    log.info({ stream, ...shownRange(burned.of(stream).around(end) ?? { from: end, to: end }) }, 'burned seqs');
}

/** Said once for each hole: readers come back to it until an append moves the counter. */
function holdLegacy({ held, log }: GapParts, stream: string, group: Group): Group {
  const last = held.of(stream);
  if (last.at !== group.from) {
    const fields = { stream, ...shownRange({ from: group.from, to: group.above - 1n }) };
    log.warn(fields, 'the counter stands behind the ops: reads end at missing seqs until the next append');
  }
  last.at = group.from;
  return group;
}

function passLegacy({ metrics, log }: GapParts, stream: string, { covers }: Group): void {
  for (const range of covers) {
    metrics.hole('legacy', Number(range.to - range.from + 1n));
    log.warn({ stream, ...shownRange(range) }, 'passed missing seqs that the counter stands behind');
  }
}

function shownRange({ from, to }: SeqRange): Readonly<Record<string, string>> {
  return { from: String(from), to: String(to) };
}

function truncated(stream: string, through: bigint): Fault {
  return new Fault(
    'conflict',
    `stream ${JSON.stringify(stream)}: its ops up to ${through} were removed; read on from there`,
  );
}
