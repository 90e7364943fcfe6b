import type { SeqRange } from '@tidemark/libs-views-contract';

/** Sets of seqs as ranges. Every answer is sorted, and its ranges neither meet nor touch; so must be what is given, but for `joined`. */
export type SeqRanges = readonly SeqRange[];

/** The set of all the given seqs; the ranges may come in any order, meet and repeat. */
export function joined(ranges: SeqRanges): SeqRange[] {
  const whole: { from: bigint; to: bigint }[] = [];
  for (const { from, to } of ranges.toSorted(byFrom)) {
    const last = whole.at(-1);
    if (last && from <= last.to + 1n) last.to = to > last.to ? to : last.to;
    else whole.push({ from, to });
  }
  return whole;
}

/** What is in `ranges` and not in `cut`; a part keeps what else its range holds. */
export function without<R extends SeqRange>(ranges: readonly R[], cut: SeqRanges): R[] {
  const rest: R[] = [];
  let at = 0;
  for (const range of ranges) {
    let next = range.from;
    while (at < cut.length && cut[at]!.to < next) at++;
    for (let i = at; i < cut.length && cut[i]!.from <= range.to; i++) {
      if (cut[i]!.from > next) rest.push({ ...range, from: next, to: cut[i]!.from - 1n });
      next = cut[i]!.to + 1n;
    }
    if (next <= range.to) rest.push({ ...range, from: next });
  }
  return rest;
}

/** Whether every seq of the range is in the set. */
export function holds(ranges: SeqRanges, { from, to }: SeqRange): boolean {
  return ranges.some((range) => range.from <= from && to <= range.to);
}

export function countOf(ranges: SeqRanges): bigint {
  return ranges.reduce((sum, { from, to }) => sum + (to - from + 1n), 0n);
}

/** Ascending seqs as runs. */
export function runsOf(seqs: Iterable<bigint>): SeqRange[] {
  const runs: { from: bigint; to: bigint }[] = [];
  for (const seq of seqs) {
    const last = runs.at(-1);
    if (last?.to === seq - 1n) last.to = seq;
    else runs.push({ from: seq, to: seq });
  }
  return runs;
}

function byFrom(a: SeqRange, b: SeqRange): number {
  return a.from < b.from ? -1 : a.from > b.from ? 1 : 0;
}
