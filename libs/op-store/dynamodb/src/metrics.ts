/** How an append round ended. */
export type RoundEnd =
  /** Its ops are stored. */
  | 'stored'
  /** Some of its ops were stored before, or their claim's key belongs to another op. */
  | 'claimed'
  /** Another writer moved the counter. */
  | 'lost'
  /** It met another transaction. */
  | 'conflict'
  | 'throttled'
  /** Its seq is occupied: the counter stands behind the ops. */
  | 'taken'
  /** The op before it is missing, or is there where it was expected to be missing. */
  | 'gap'
  /** Nobody answered it; it may be stored. */
  | 'unanswered'
  /** It cannot be done. */
  | 'refused';

/** What became of seqs that hold no visible op, below one that does. */
export type HoleEnd =
  /** Proved never to be written. */
  | 'burned'
  /** Passed because no writer of this table takes a seq below an occupied one. */
  | 'legacy'
  /** Not judged yet: a page ended there. */
  | 'held';

export interface DynamoMetrics {
  round(end: RoundEnd, ops: number): void;
  hole(end: HoleEnd, seqs: number): void;
  /**
   * An op whose claim's key belongs to another op id, or whose claim names the place of another op: it is stored without one, and would be
   * stored again by a repeat.
   */
  collision(): void;
}

export interface DynamoLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}
