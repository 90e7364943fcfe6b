import type { BurnedSeqs, SeqRange } from './burned-seqs.ts';

/** An op that a Query showed, and so a witness: reading it is billed by its size. */
export interface ShownOp {
  readonly seq: bigint;
  readonly bytes: number;
}

/** A run of missing seqs, or a part of one. */
export interface Gap extends SeqRange {
  /** The first op shown above it. */
  readonly above: bigint;
  /** Whether the run ends with it. */
  readonly isLast: boolean;
}

/** Holes that one TransactGetItems judges. */
export interface Group {
  /** The lowest seq that is judged. */
  readonly from: bigint;
  readonly holes: readonly bigint[];
  /** What is judged by them: these holes, or a long run that ends with them. */
  readonly gaps: readonly Gap[];
  readonly witness: bigint;
  /** The run is to be looked at once more, because not all of it is among the holes. */
  readonly isLongRun: boolean;
}

/** A TransactGetItems reads 100 items, one of which is the witness. */
const HOLES_MAX = 99;

/** Of a round, which stores at most 49 ops, no more than this stand below any of them. */
const LONG_RUN_TAIL = 48n;

/**
 * What is missing between `after` and the ops shown, and not known to be burned, in groups from below: as many holes as fit, of one gap or
 * many, with the smallest op above them all as their witness.
 */
export function* groupsOf(
  after: bigint,
  shown: readonly ShownOp[],
  burned: Pick<BurnedSeqs, 'unknown'>,
  longRuns: boolean,
): Generator<Group> {
  const witnesses = smallestFrom(shown);
  const group = new GroupInTheMaking();
  let next = after + 1n;
  for (const [i, { seq }] of shown.entries()) {
    for (const run of next < seq ? burned.unknown({ from: next, to: seq - 1n }) : []) {
      if (longRuns && run.to - run.from >= LONG_RUN_TAIL) {
        yield* group.taken();
        yield longRun(run, seq);
        continue;
      }
      for (let from = run.from; from <= run.to;) {
        from = group.add({ from, to: run.to }, seq, witnesses[i] as bigint);
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
  #gaps: Gap[] = [];
  #witness = 0n;

  get isFull(): boolean {
    return this.#holes.length >= HOLES_MAX;
  }

  /** Takes as many of the first seqs as fit, and answers the first that did not. */
  add({ from, to }: SeqRange, above: bigint, witness: bigint): bigint {
    let next = from;
    while (next <= to && !this.isFull) this.#holes.push(next++);
    this.#gaps.push({ from, to: next - 1n, above, isLast: next > to });
    this.#witness = witness;
    return next;
  }

  *taken(): Generator<Group> {
    const from = this.#holes[0];
    if (from === undefined) return;
    const [holes, gaps] = [this.#holes, this.#gaps];
    [this.#holes, this.#gaps] = [[], []];
    yield { from, holes, gaps, witness: this.#witness, isLongRun: false };
  }
}

/** Its witness is the op right above it, because the seqs that are left out are counted from there. */
function longRun({ from, to }: SeqRange, above: bigint): Group {
  const holes: bigint[] = [];
  for (let seq = above - LONG_RUN_TAIL; seq < above; seq++) holes.push(seq);
  return { from, holes, gaps: [{ from, to, above, isLast: true }], witness: above, isLongRun: true };
}
