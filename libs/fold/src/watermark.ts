import { assert } from '@tidemark/libs-kernel';
import type { Hole, SeqRange, WatermarkState } from '@tidemark/libs-views-contract';

/** How many ranges ahead of the prefix one worker adds to a mark. Each range costs stored bytes and one comparison per page. */
export const RANGES_MAX = 1000;

/** `at_bound`: the range would be one more than the bound. It is not recorded; whoever folded it folds it again later. */
export type Covered = { readonly kind: 'covered'; readonly state: WatermarkState } | { readonly kind: 'at_bound' };

/**
 * What is known to be folded of a stream, as a set of seqs:
 *
 *      1 ........ foldedThrough   [ hole ]   [ ahead ]   [ hole ]   [ ahead ]
 *      all folded                 unfolded    folded     unfolded    folded      unknown
 *
 * States only grow. `union` is commutative, associative and idempotent, so workers that fold one stream may join what they know in any
 * order; the prefix never goes back. A hole lies between two covered seqs and keeps the time of its first sight as it shrinks or splits.
 */
export function emptyWatermark(): WatermarkState {
  return { foldedThrough: 0n, ahead: [], holes: [], floor: 0n };
}

/** The state with the range folded as well. New holes are first seen now. A cover that adds no range is never refused. */
export function cover(state: WatermarkState, range: SeqRange, nowMs: number, rangesMax = RANGES_MAX): Covered {
  assert(range.from >= 1n && range.to >= range.from, 'a covered range begins at 1 or above and is not empty');
  const firstSeenMs = (gap: SeqRange) => sight(state, gap) ?? nowMs;
  const covered = normalize(state.foldedThrough, [...state.ahead, range], state.floor, firstSeenMs);
  const adds = covered.ahead.length > state.ahead.length;
  return adds && covered.ahead.length > rangesMax ? { kind: 'at_bound' } : { kind: 'covered', state: covered };
}

/**
 * Everything that either state knows; a hole that both saw is as old as the elder sight. Never refused and never cut: a union may hold
 * as many ranges as its sides together, and then nothing is added ahead until it shrank.
 */
export function union(a: WatermarkState, b: WatermarkState): WatermarkState {
  const foldedThrough = a.foldedThrough > b.foldedThrough ? a.foldedThrough : b.foldedThrough;
  const floor = a.floor > b.floor ? a.floor : b.floor;
  const firstSeenMs = (gap: SeqRange) => Math.min(sight(a, gap) ?? Infinity, sight(b, gap) ?? Infinity);
  return normalize(foldedThrough, [...a.ahead, ...b.ahead], floor, firstSeenMs);
}

/** Whether every seq of the range is folded. */
export function isCovered(state: WatermarkState, range: SeqRange): boolean {
  if (range.to <= state.foldedThrough) return true;
  return state.ahead.some(({ from, to }) => from <= range.from && range.to <= to);
}

/** How many seqs the holes hold together. */
export function heldSeqs(state: WatermarkState): bigint {
  return state.holes.reduce((sum, { from, to }) => sum + (to - from + 1n), 0n);
}

function normalize(
  prefix: bigint,
  ranges: readonly SeqRange[],
  floor: bigint,
  firstSeenMs: (gap: SeqRange) => number,
): WatermarkState {
  let foldedThrough = prefix;
  const ahead: { from: bigint; to: bigint }[] = [];
  for (const { from, to } of ranges.toSorted(byFrom)) {
    const last = ahead.at(-1);
    if (from <= foldedThrough + 1n) foldedThrough = to > foldedThrough ? to : foldedThrough;
    else if (last && from <= last.to + 1n) last.to = to > last.to ? to : last.to;
    else ahead.push({ from, to });
  }
  return { foldedThrough, ahead, holes: gaps(foldedThrough, ahead, firstSeenMs), floor };
}

function gaps(foldedThrough: bigint, ahead: readonly SeqRange[], firstSeenMs: (gap: SeqRange) => number): Hole[] {
  return ahead.map((range, at) => {
    const gap = { from: (at === 0 ? foldedThrough : ahead[at - 1]!.to) + 1n, to: range.from - 1n };
    return { ...gap, firstSeenMs: firstSeenMs(gap) };
  });
}

/** When the hole around the gap was first seen. A gap of a grown state lies in one hole of the older state, or above all it knew. */
function sight(state: WatermarkState, gap: SeqRange): number | undefined {
  return state.holes.find(({ from, to }) => from <= gap.from && gap.to <= to)?.firstSeenMs;
}

function byFrom(a: SeqRange, b: SeqRange): number {
  return a.from < b.from ? -1 : a.from > b.from ? 1 : 0;
}
