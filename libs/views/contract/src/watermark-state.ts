/** Inclusive. */
export interface SeqRange {
  readonly from: bigint;
  readonly to: bigint;
}

export interface Hole extends SeqRange {
  /** Worker's wall clock at first sight, ms; persisted, because a hole must not grow young at a restart. */
  readonly firstSeenMs: number;
}

/** What is known to be folded of one stream in one epoch. The rules that change it are libs/fold/watermark.ts, pure. */
export interface WatermarkState {
  /** Every op with seq <= this is in the view, parked, skipped, or proved never to have been written (FLD-1). */
  readonly foldedThrough: bigint;
  /** Folded ranges above foldedThrough + 1; sorted, disjoint, not adjacent. */
  readonly ahead: readonly SeqRange[];
  /** Unfolded ranges between foldedThrough and the end of `ahead`. */
  readonly holes: readonly Hole[];
  /** Ranges that a grace passed without proof; they are watched, and an op that shows in one is folded and tells (FLD-2). */
  readonly skipped: readonly SeqRange[];
  /** Ops at or below were truncated at the source. 0: none. */
  readonly floor: bigint;
}

export const NOTHING_FOLDED: WatermarkState = { foldedThrough: 0n, ahead: [], holes: [], skipped: [], floor: 0n };
