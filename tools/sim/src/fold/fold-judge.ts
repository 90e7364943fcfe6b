import { type Reducer, Reducers } from '@tidemark/libs-fold';
import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import type { Document, SeqRange, StoredMark, ViewChange, Views } from '@tidemark/libs-views-contract';
import type { Op } from '@tidemark/libs-wire';
import { itemOp } from '../checkers/stored-op.ts';
import type { SimDynamo } from '../dynamo/sim-dynamo.ts';
import { fullFold, shownDocuments } from './full-fold.ts';
import { POISON_KIND } from './sim-views.ts';

/** What is known to be true of one stream, from the table itself. */
interface TrueStream {
  readonly ops: Map<bigint, Op>;
  /** When each seq was first missing below an op or the counter. */
  readonly missingSinceMs: Map<bigint, number>;
  counter: bigint;
  /** Of the shown epoch: seqs that were found to be in the rows, and the mark of that look. */
  epoch: number;
  version: number;
  revision: number;
  through: bigint;
  readonly verified: Set<bigint>;
  /** Missing seqs that a mark passed, and whether it said that it skipped them. */
  readonly passed: Map<bigint, 'proved' | 'skipped'>;
}

export interface JudgeOptions {
  /** Sees what readers see, at once and without any trouble. */
  readonly views: Views;
  readonly reducerOf: (revision: number) => Reducer;
  /** 0: no seq may be passed by time. */
  readonly legacyGraceMs: number;
}

/**
 * Compares what is shown with the truth at every step (FLD-1, FLD-2, FLD-5, FLD-6, FLD-7): an op at or below a mark, or in a range ahead of it,
 * has its effect in the rows of the shown epoch, or is parked; a missing seq that a mark passed stays missing, unless it was skipped after
 * its grace; no mark goes back.
 */
export class FoldJudge {
  readonly violations: string[] = [];
  /** Ops that were stored where a mark had skipped their seq. */
  late = 0;
  readonly #dynamo: SimDynamo;
  readonly #options: JudgeOptions;
  readonly #streams = new Map<string, TrueStream>();

  constructor(dynamo: SimDynamo, options: JudgeOptions) {
    this.#dynamo = dynamo;
    this.#options = options;
    dynamo.database.onCommit(({ writes }) => {
      for (const { stream, seq, item } of writes) {
        if (item === null || seq < 0n) continue;
        if (seq > 0n) this.#commit(stream, seq, itemOp(item));
        else this.#count(stream, BigInt(item['next_seq']?.N ?? '0'));
      }
    });
  }

  get streams(): readonly string[] {
    return [...this.#streams.keys()];
  }

  wrong(what: string): void {
    if (this.violations.length < 20) this.violations.push(what);
  }

  /** The highest seq that was ever given. */
  head(stream: string): bigint {
    const { ops, counter } = this.#of(stream);
    return [...ops.keys()].reduce((head, seq) => (seq > head ? seq : head), counter);
  }

  /** The shown mark, as it was seen last. */
  through(stream: string): bigint {
    return this.#of(stream).through;
  }

  /** Whether an op's effect is stored where readers see it, as far as the mark says (FLD-9). */
  covers(stream: string, seq: bigint): boolean {
    const { through, verified } = this.#of(stream);
    return seq <= through || verified.has(seq);
  }

  /** Of the reducers that folded what is shown; -1: nothing is. */
  revisionOf(stream: string): number {
    return this.#of(stream).revision;
  }

  /** Looks at the shown mark of a stream, if it is another one than before. */
  async look(stream: string): Promise<void> {
    const truth = this.#of(stream);
    const mark = await this.#options.views.mark(stream);
    if (mark === null) {
      if (truth.through > 0n) this.wrong(`FLD-5: the mark of ${stream} is gone`);
      return;
    }
    if (mark.epoch === truth.epoch && mark.version === truth.version) return;
    await this.#judge(stream, truth, mark);
  }

  /** At the end: views and marks as a full fold of the table gives them. */
  async finish(revision: number): Promise<void> {
    for (const stream of this.streams) {
      const truth = this.#of(stream);
      truth.version = -1;
      await this.look(stream);
      const head = this.head(stream);
      if (truth.through !== head) this.wrong(`FLD-1: the mark of ${stream} ends at ${truth.through} of ${head}`);
      const wanted = await fullFold(stream, sequenced(truth.ops), this.#options.reducerOf(revision));
      const shown = await shownDocuments(this.#options.views, stream);
      for (const id of new Set([...wanted.keys(), ...shown.keys()]))
        if (wanted.get(id) !== shown.get(id))
          this.wrong(`FLD-1: ${stream} shows ${id} as\n${shown.get(id)}\na full fold as\n${wanted.get(id)}`);
    }
  }

  #count(stream: string, counter: bigint): void {
    const truth = this.#of(stream);
    truth.counter = counter;
    this.#missThrough(truth, counter);
  }

  #missThrough({ ops, missingSinceMs }: TrueStream, seq: bigint): void {
    for (let below = seq; below > 0n && !ops.has(below) && !missingSinceMs.has(below); below--)
      missingSinceMs.set(below, this.#dynamo.scheduler.nowMs);
  }

  #commit(stream: string, seq: bigint, op: Op): void {
    const truth = this.#of(stream);
    const how = truth.passed.get(seq);
    if (how === 'skipped') this.late++;
    if (how === 'proved') this.wrong(`FLD-1: ${stream}/${seq} is stored below a mark that took it for burned`);
    truth.ops.set(seq, op);
    truth.missingSinceMs.delete(seq);
    this.#missThrough(truth, seq - 1n);
  }

  async #judge(stream: string, truth: TrueStream, mark: StoredMark): Promise<void> {
    const { foldedThrough, ahead } = mark.watermark;
    if (foldedThrough < truth.through)
      this.wrong(`FLD-5: the mark of ${stream} went back from ${truth.through} to ${foldedThrough}`);
    if (mark.epoch !== truth.epoch) Object.assign(truth, { epoch: mark.epoch, through: 0n }).verified.clear();
    const ranges: SeqRange[] = [{ from: truth.through + 1n, to: foldedThrough }, ...ahead];
    const look = new Look(stream, mark, this.#options);
    for (const { from, to } of ranges)
      for (let seq = from; seq <= to; seq++)
        if (!truth.verified.has(seq)) await this.#judgeSeq(stream, truth, seq, look);
    truth.through = foldedThrough;
    truth.version = mark.version;
    truth.revision = mark.revisions.get('sim') ?? -1;
  }

  async #judgeSeq(stream: string, truth: TrueStream, seq: bigint, look: Look): Promise<void> {
    const op = truth.ops.get(seq);
    const where = `${stream}/${seq}, epoch ${look.mark.epoch}, mark ${look.mark.watermark.foldedThrough}`;
    if (op === undefined) return this.#judgeMissing(where, truth, seq, look.mark);
    const problem = await look.problemOf({ seq, op }, truth.ops);
    if (problem === null) truth.verified.add(seq);
    else this.wrong(`FLD-1: ${where}: ${problem}`);
  }

  #judgeMissing(where: string, truth: TrueStream, seq: bigint, { watermark }: StoredMark): void {
    const isSkipped = watermark.skipped.some(({ from, to }) => from <= seq && seq <= to);
    if (isSkipped) {
      const { legacyGraceMs } = this.#options;
      const sinceMs = truth.missingSinceMs.get(seq) ?? Infinity;
      const ageMs = this.#dynamo.scheduler.nowMs - sinceMs;
      if (legacyGraceMs === 0 || ageMs < legacyGraceMs)
        this.wrong(`FLD-2: ${where}: skipped ${Math.round(ageMs)} ms after it was missing`);
    }
    if (truth.passed.get(seq) !== 'proved') truth.passed.set(seq, isSkipped ? 'skipped' : 'proved');
    if (seq > truth.counter && ![...truth.ops.keys()].some((other) => other > seq))
      this.wrong(`FLD-1: ${where}: no such seq was ever given`);
  }

  #of(stream: string): TrueStream {
    const known = this.#streams.get(stream);
    if (known !== undefined) return known;
    const truth: TrueStream = {
      ops: new Map(),
      missingSinceMs: new Map(),
      counter: 0n,
      epoch: 0,
      version: 0,
      revision: -1,
      through: 0n,
      verified: new Set(),
      passed: new Map(),
    };
    this.#streams.set(stream, truth);
    return truth;
  }
}

/** One look at the rows of a stream, of one moment. */
class Look {
  readonly mark: StoredMark;
  readonly #stream: string;
  readonly #views: Views;
  readonly #reducers: Reducers;
  readonly #documents = new Map<string, Document | null>();
  #parked: ReadonlySet<bigint> | null = null;

  constructor(stream: string, mark: StoredMark, { views, reducerOf }: JudgeOptions) {
    this.#stream = stream;
    this.mark = mark;
    this.#views = views;
    this.#reducers = new Reducers([reducerOf(mark.revisions.get('sim') ?? 0)]);
  }

  /** What of the op is neither in the rows nor excused; null: nothing. */
  async problemOf(op: SequencedOp, all: ReadonlyMap<bigint, Op>): Promise<string | null> {
    const reduced = this.#reducers.reduce(op);
    if (reduced.kind !== 'folded') return null;
    if (op.op.targetKind === POISON_KIND)
      return (await this.#isParked(op.seq)) ? null : 'an op that no views take is not parked';
    for (const change of reduced.changes)
      if (!(await this.#isStored(change, all))) return `${change.effect} of ${change.id} ${change.field} is not stored`;
    return null;
  }

  async #isStored(change: ViewChange, all: ReadonlyMap<bigint, Op>): Promise<boolean> {
    const member = (await this.#document(change.kind, change.id))?.fields.get(change.field)?.members.get(change.member);
    if (change.effect === 'remove') return member === undefined;
    if (member === undefined) return this.#isRemoved(change, all);
    return !beats(change, member.version);
  }

  /** Removed by an op that may be folded already: removes are for ever. */
  #isRemoved({ id, field, member }: ViewChange, all: ReadonlyMap<bigint, Op>): boolean {
    return [...all.values()].some(
      (op) => op.opType === 'remove' && op.targetId === id && op.field === field && op.value === JSON.stringify(member),
    );
  }

  async #document(kind: string, id: string): Promise<Document | null> {
    const name = `${kind}/${id}`;
    if (!this.#documents.has(name)) this.#documents.set(name, await this.#views.document(this.#stream, kind, id));
    return this.#documents.get(name) ?? null;
  }

  async #isParked(seq: bigint): Promise<boolean> {
    this.#parked ??= new Set(
      (await this.#views.parked(this.#stream, this.mark.epoch, 0n, 1000)).map((parked) => parked.seq),
    );
    return this.#parked.has(seq);
  }
}

/** Whether the change would still win over what is stored. */
function beats(change: ViewChange & { effect: 'register' }, stored: { lamport: bigint; site: bigint; seq: bigint }) {
  const { lamport, site, seq } = change.version;
  const isHigher = change.rule === 'higher';
  if (lamport !== stored.lamport) return lamport > stored.lamport === isHigher;
  if (site !== stored.site) return site > stored.site === isHigher;
  return seq < stored.seq;
}

const sequenced = (ops: ReadonlyMap<bigint, Op>): SequencedOp[] =>
  [...ops].map(([seq, op]) => ({ seq, op })).sort((a, b) => (a.seq < b.seq ? -1 : 1));
