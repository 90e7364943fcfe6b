import type { Clock } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import type { StoredMark } from '@tidemark/libs-views-contract';
import type { MarkSaver } from './mark-saver.ts';
import type { OpCounts, OpFolder } from './op-folder.ts';
import type { FoldLog, SeqEnd } from './report.ts';

/** What the steps of a fold share. */
export interface StepParts {
  readonly opStore: OpStore;
  readonly ops: OpFolder;
  readonly saver: MarkSaver;
  readonly clock: Clock;
  readonly log: FoldLog;
  readonly count: StepCounts;
  readonly pageOpsMax: number;
}

/** Told when the mark is saved that passes what is counted. */
export interface StepCounts {
  ops(counts: OpCounts): void;
  seqs(end: SeqEnd, count: bigint): void;
  bound(): void;
}

/** What a step made of the mark; null: the epoch was left. The very mark that was given: nothing. */
export interface Step {
  readonly mark: StoredMark | null;
  readonly ops: number;
}

/** Text of one page: with the lanes of a worker, what bounds the memory of a tick. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;
