/** A doorbell: this stream may have ops above what was folded. The op store is the truth; the feed only says where to look. */
export interface FeedChange {
  readonly stream: string;
  /** Highest seq that the feed knows of. */
  readonly head: bigint;
}

export interface FeedBatch {
  /** In any order; a stream may be repeated, and its change may come late. */
  readonly changes: readonly FeedChange[];
  /** Passed to checkpoint once the effects of the batch are stored. */
  readonly position: string;
}

/**
 * Where changes come from. At least once: a change whose batch was not checkpointed comes again after a restart. Every stream that
 * holds ops is named at least once after a start without a checkpoint. Workers may share a source: each opens a feed of its own, and every change
 * is named to one of them at least. One reader per feed: calls of read do not overlap.
 */
export interface Feed {
  /**
   * Up to `max` changes; waits up to `waitMs` for the first one; an empty batch means nothing. Ends early when `signal` aborts. A read
   * that rejects or is aborted loses nothing: what it would have named comes in a later read.
   */
  read(max: number, waitMs: number, signal?: AbortSignal): Promise<FeedBatch>;
  /** Everything up to this position has its effects stored (FLD-9: never called before they are). */
  checkpoint(position: string): Promise<void>;
  ping(): Promise<void>;
  /** Any later read rejects with `unavailable`; a read that waits ends soon. */
  close(): Promise<void>;
}
