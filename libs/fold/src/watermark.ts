import { isDeepStrictEqual } from 'node:util';
import { assert } from '@tidemark/libs-kernel';
import type { Hole, SeqRange, WatermarkState } from '@tidemark/libs-views-contract';
import { elder, fused } from './sights.ts';
import { countOf, holds, joined, without } from './seq-ranges.ts';

/** How many ranges ahead of the prefix one worker adds to a mark. Each range costs stored bytes and one comparison per page. */
export const RANGES_MAX = 1000;
/** How many pieces of missing seqs a mark keeps apart: those between the ranges, and as many at the end of the stream. */
export const HOLES_MAX = 2 * RANGES_MAX;
/** How many ranges that a grace passed are watched. */
export const SKIPPED_MAX = 1000;

/** `at_bound`: the range would be one more than the bound. It is not recorded; whoever folded it folds it again later. */
export type Covered = { readonly kind: 'covered'; readonly state: WatermarkState } | { readonly kind: 'at_bound' };

/**
 * What is known of a stream's seqs, each in one of three states that follow each other:
 *
 *     unknown  ─▶  skipped: a grace passed it without proof  ─▶  folded: its op is in the view, or parked, or there is none
 *
 *      1 ........ foldedThrough   [ hole ]   [ ahead ]   [ hole ]   [ ahead ]   [ hole ]
 *      none unknown               unknown     none        unknown    none        given, so it is said, and not there
 *
 * `ahead` and the prefix hold what is not unknown; `skipped` are parts of them. States only grow. `union` takes of each seq the later state,
 * so it is commutative, associative and idempotent: workers that fold one stream may join what they know in any order, and the prefix
 * never goes back. A hole keeps the time of its first sight as it shrinks or splits; of two sights the elder counts.
 */
export function emptyWatermark(): WatermarkState {
  return { foldedThrough: 0n, ahead: [], holes: [], skipped: [], floor: 0n };
}

/** The state with the range folded as well. New holes are first seen now. A cover that adds no range is never refused. */
export function cover(state: WatermarkState, range: SeqRange, nowMs: number, rangesMax = RANGES_MAX): Covered {
  const covered = coverAll(state, [range], nowMs);
  const adds = covered.ahead.length > state.ahead.length;
  return adds && covered.ahead.length > rangesMax ? { kind: 'at_bound' } : { kind: 'covered', state: covered };
}

/** The same of ascending ranges, without a bound. */
export function coverAll(state: WatermarkState, ranges: readonly SeqRange[], nowMs: number): WatermarkState {
  for (const { from, to } of ranges)
    assert(from >= 1n && to >= from, 'a covered range begins at 1 or above and is not empty');
  if (ranges.length === 0) return state;
  const skipped = without(state.skipped, joined(ranges));
  return settled(
    { covered: [...coveredOf(state), ...ranges], sights: state.holes, skipped, floor: state.floor },
    nowMs,
  );
}

/**
 * The state with the unknown seqs of the range skipped. Of more than SKIPPED_MAX ranges the lowest is not watched any more: it is answered
 * as forgotten, and counts as folded.
 */
export function skip(
  state: WatermarkState,
  range: SeqRange,
  nowMs: number,
  skippedMax = SKIPPED_MAX,
): { readonly state: WatermarkState; readonly forgotten: readonly SeqRange[] } {
  const covered = coveredOf(state);
  const watched = joined([...state.skipped, ...without([range], covered)]);
  const skipped = watched.slice(-skippedMax);
  const forgotten = watched.slice(0, -skippedMax);
  return {
    state: settled({ covered: [...covered, range], sights: state.holes, skipped, floor: state.floor }, nowMs),
    forgotten,
  };
}

/** The state with a hole up to the head of the stream, of seqs that were given and are not there; those not sighted before are first seen now. */
export function sight(state: WatermarkState, head: bigint, nowMs: number, holesMax = HOLES_MAX): WatermarkState {
  const last = topOf(state);
  const sighted = state.holes.at(-1)?.to ?? 0n;
  const from = (sighted > last ? sighted : last) + 1n;
  if (from > head || state.holes.length >= holesMax) return state;
  return { ...state, holes: fused([...state.holes, { from, to: head, firstSeenMs: nowMs }]) };
}

/** The state of a stream whose ops at or below the floor were removed: nothing there is waited for. */
export function raiseFloor(state: WatermarkState, floor: bigint): WatermarkState {
  if (floor <= state.floor) return state;
  return { ...coverAll(state, [{ from: 1n, to: floor }], NEVER), floor };
}

/**
 * Everything that either state knows. Never refused and never cut: a union may hold as many ranges as its sides together, and then
 * nothing is added ahead until it shrank.
 */
export function union(a: WatermarkState, b: WatermarkState): WatermarkState {
  const [ofA, ofB] = [coveredOf(a), coveredOf(b)];
  const folded = joined([...without(ofA, a.skipped), ...without(ofB, b.skipped)]);
  const skipped = without(joined([...a.skipped, ...b.skipped]), folded);
  const floor = a.floor > b.floor ? a.floor : b.floor;
  return settled({ covered: [...ofA, ...ofB], sights: elder(a.holes, b.holes), skipped, floor }, NEVER);
}

/** Whether `a` knows everything that `b` does. */
export function knows(a: WatermarkState, b: WatermarkState): boolean {
  return isDeepStrictEqual(union(a, b), a);
}

/** Whether no seq is unknown to `a` that `b` knows. */
export function knowsSeqs(a: WatermarkState, b: WatermarkState): boolean {
  return without(coveredOf(b), coveredOf(a)).length === 0;
}

/** Whether no seq of the range is unknown. */
export function isCovered(state: WatermarkState, range: SeqRange): boolean {
  return range.to <= state.foldedThrough || holds(state.ahead, range);
}

/** Of ascending ops, all above the prefix, those at unknown seqs. */
export function unknownOf<One extends { readonly seq: bigint }>(
  { ahead }: WatermarkState,
  ops: readonly One[],
): readonly One[] {
  if (ahead.length === 0) return ops;
  let at = 0;
  return ops.filter(({ seq }) => {
    while (at < ahead.length && ahead[at]!.to < seq) at++;
    return at === ahead.length || seq < ahead[at]!.from;
  });
}

/** The highest seq that is not unknown. */
export function topOf(state: WatermarkState): bigint {
  return state.ahead.at(-1)?.to ?? state.foldedThrough;
}

/** How many seqs the holes hold together. */
export function heldSeqs(state: WatermarkState): bigint {
  return countOf(state.holes);
}

interface Parts {
  /** In any order. */
  readonly covered: readonly SeqRange[];
  readonly sights: readonly Hole[];
  readonly skipped: readonly SeqRange[];
  readonly floor: bigint;
}

/** For where no gap can come to be that nobody saw before. */
const NEVER = Infinity;

function settled({ covered, sights, skipped, floor }: Parts, nowMs: number): WatermarkState {
  const ranges = joined(covered);
  const foldedThrough = ranges[0]?.from === 1n ? ranges[0].to : 0n;
  const ahead = foldedThrough > 0n ? ranges.slice(1) : ranges;
  const unseen = without(gapsBelow(ranges), sights).map((gap) => ({ ...gap, firstSeenMs: nowMs }));
  return { foldedThrough, ahead, holes: fused([...without(sights, ranges), ...unseen]), skipped, floor };
}

function coveredOf({ foldedThrough, ahead }: WatermarkState): readonly SeqRange[] {
  return foldedThrough > 0n ? [{ from: 1n, to: foldedThrough }, ...ahead] : ahead;
}

function gapsBelow(ranges: readonly SeqRange[]): SeqRange[] {
  const to = ranges.at(-1)?.to;
  return to === undefined ? [] : without([{ from: 1n, to }], ranges);
}
