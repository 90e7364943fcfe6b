/** Where the fold tells what an operator should know. A pino logger fits. No content of ops goes here. */
export interface FoldLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What became of an op that the mark passes. */
export type OpEnd = 'folded' | 'not_folded' | 'parked';

/** What became of seqs that were missing for a while. */
export type SeqEnd =
  /** Their ops came, and are folded. */
  | 'backfilled'
  /** No op will ever be there. */
  | 'burned'
  /** Passed by the grace for writers of an older make, without proof. */
  | 'skipped'
  /** Their ops came after the grace had passed them. Must reach a person. */
  | 'late'
  /** Passed by the grace, and not watched any more: more of them came than are remembered. */
  | 'forgotten'
  /** Removed from the log before they were folded: the view lacks them. */
  | 'truncated';

export type EpochEvent = 'build' | 'switched' | 'abandoned';

export interface FoldMetrics {
  /** Counted once each when their mark is saved (a crash may let one be counted again). Ops of a rebuild are not among them. */
  ops(end: OpEnd, count: number): void;
  /** Ops that a rebuild folded again. */
  replayed(count: number): void;
  seqs(end: SeqEnd, count: number): void;
  epoch(event: EpochEvent): void;
  /** Another worker saved the mark first. */
  conflict(): void;
  /** Ops ahead of a hole are left in the log for now: the mark keeps no more ranges. */
  bound(): void;
}

export const SILENT_LOG: FoldLog = { info() {}, warn() {} };
export const NO_METRICS: FoldMetrics = {
  ops() {},
  replayed() {},
  seqs() {},
  epoch() {},
  conflict() {},
  bound() {},
};
