/** Version of a register write: compared rank, then lamport, then site. On a full tie the lower seq wins, so the fold has one result in any order. */
export interface RegisterVersion {
  readonly rank: bigint;
  readonly lamport: bigint;
  readonly site: bigint;
  readonly seq: bigint;
}

/**
 * One effect of an op on a document. All effects are idempotent and commute.
 * `register` with `higher`: the write with the highest version stays (last writer wins); `lower`: the lowest (first writer wins).
 */
export interface RegisterChange {
  readonly effect: 'register';
  readonly kind: string;
  readonly id: string;
  readonly field: string;
  /** JSON text of the value; kept and served to the byte. */
  readonly value: string;
  /** A field is written under one rule for ever. */
  readonly rule: 'higher' | 'lower';
  readonly version: RegisterVersion;
}

export type ViewChange = RegisterChange;

export interface Field {
  /** JSON text, as it was written. */
  readonly value: string;
  readonly version: RegisterVersion;
}

export interface Document {
  readonly kind: string;
  readonly id: string;
  readonly fields: ReadonlyMap<string, Field>;
}

/** A page of documents ends at this many bytes of value text when nothing else is asked. */
export const DOCUMENTS_PAGE_BYTES_MAX = 8 * 1024 * 1024;

export interface DocumentPage {
  readonly documents: readonly Document[];
  /** `after` of the following page; null when this page reached the end. */
  readonly next: string | null;
}

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
  /** Every op with seq <= this is in the view, or proved never to have been written (FLD-1). */
  readonly foldedThrough: bigint;
  /** Folded ranges above foldedThrough + 1; sorted, disjoint, not adjacent. */
  readonly ahead: readonly SeqRange[];
  /** Unfolded ranges between foldedThrough and the end of `ahead`. */
  readonly holes: readonly Hole[];
  /** Ops at or below were truncated at the source. 0: none. */
  readonly floor: bigint;
}

export interface StoredMark {
  readonly watermark: WatermarkState;
  /** Generation of the view; a rebuild folds into a higher one. */
  readonly epoch: number;
  /** Compare-and-set counter of this mark; 0 means that no mark is stored. */
  readonly version: number;
}

/**
 * Where folded state and marks live. Rows of a stream belong to an epoch; readers see the epoch of the stored mark.
 * Faults: `unavailable`, `disk_full`, `corrupt`, `misconfigured`, `internal`.
 */
export interface Views {
  /** The stream's mark; null when none is stored. */
  mark(stream: string): Promise<StoredMark | null>;

  /**
   * Applies every change, each idempotent; a rejected call may have applied some. When it resolves the rows outlive the process and are
   * stored at least as durably as a later saveMark. Rows of an epoch that no mark names are kept and not shown.
   */
  apply(stream: string, epoch: number, changes: readonly ViewChange[]): Promise<void>;

  /**
   * Stores the mark iff the stored version is still `expectedVersion` (0: none stored); its version becomes expectedVersion + 1.
   * `conflict`: another worker was faster; nothing was written. A mark is never durable before rows that were applied before it.
   */
  saveMark(
    stream: string,
    epoch: number,
    watermark: WatermarkState,
    expectedVersion: number,
  ): Promise<'saved' | 'conflict'>;

  /** Null for an unknown document, and for every document of a stream without a mark. */
  document(stream: string, kind: string, id: string): Promise<Document | null>;

  /**
   * Documents of a kind in UTF-8 order of their ids, from the first id above `after` (null: from the start), at most `limit` of them and
   * about `bytesMax` bytes of values (but at least one document when there is one). One page is one snapshot; two pages are two.
   */
  documents(
    stream: string,
    kind: string,
    after: string | null,
    limit: number,
    bytesMax?: number,
  ): Promise<DocumentPage>;

  /** Resolves when the store answers; for readiness. */
  ping(): Promise<void>;

  /** Twice is fine. */
  close(): Promise<void>;
}
