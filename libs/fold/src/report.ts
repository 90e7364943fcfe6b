/** Where the fold tells what an operator should know. A pino logger fits. No content of ops goes here. */
export interface FoldLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What became of ops, counted once each when their mark is saved (a crash may let one be counted again). */
export interface FoldMetrics {
  ops(outcome: 'folded' | 'not_folded' | 'refused', count: number): void;
  /** Another worker saved the mark first. */
  conflict(): void;
}

export const SILENT_LOG: FoldLog = { info() {}, warn() {} };
export const NO_METRICS: FoldMetrics = { ops() {}, conflict() {} };
