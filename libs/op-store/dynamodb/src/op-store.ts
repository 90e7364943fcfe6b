import type { Clock, Random, Sleeper } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import type { DynamoClient } from './client.ts';

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
  /** An op whose claim's key belongs to another op id: it is stored without one, and would be stored again by a repeat. */
  collision(): void;
}

export interface DynamoLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface DynamoOpStoreOptions {
  readonly client: DynamoClient;
  /** The ops table. */
  readonly table: string;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log: DynamoLog;
  readonly metrics: DynamoMetrics;
  /** Ops in one transaction, 1 to 49. 1 sends exactly the four items of the single-op protocol. Default 49. */
  readonly maxOpsPerRound?: number;
  /** Rounds that an append may lose in a row; one more is `unavailable` (RLY-11). Default 100. */
  readonly contentionRounds?: number;
  /** How long a read waits at a hole that cannot be judged yet. Default 250; polls take 0. */
  readonly patienceMs?: number;
  /**
   * Judges a run of more than 48 missing seqs by one more Query and its last 48 seqs alone. Sound only while no ADD-allocating writer and
   * none without the predecessor check writes the table, every round has at most 49 ops, and conflicts are certain. Default false.
   */
  readonly longRuns?: boolean;
  /**
   * A hole whose counter stands behind the op above it (a lost or never written counter): `hold` ends pages there until an append moves the
   * counter; `pass` steps over it, which is sound only if no other make of writer shares the table. Default `hold`.
   */
  readonly legacyHoles?: 'hold' | 'pass';
  /** Streams whose position and burned seqs are remembered. Default 10,000. */
  readonly streamsMax?: number;
}

/** The op log in one DynamoDB table. No I/O happens before the first call. */
export function dynamoOpStore(options: DynamoOpStoreOptions): OpStore {
  throw new Error(`not built yet: ${options.table}`);
}
