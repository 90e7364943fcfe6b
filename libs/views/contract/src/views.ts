import type { WatermarkState } from './watermark-state.ts';

/** Version of a write: compared rank, then lamport, then site. On a full tie the lower seq wins, so the fold has one result in any order. */
export interface RegisterVersion {
  readonly rank: bigint;
  readonly lamport: bigint;
  readonly site: bigint;
  readonly seq: bigint;
}

/**
 * What the members of a field are to its readers; the store keeps all of them alike. `register`: one member named ''. `set`, `list`,
 * `latest`: one member per add, named by its tag. `counter`: one member per site.
 */
export type FieldShape = 'register' | 'set' | 'list' | 'counter' | 'latest';

/** A cell: the smallest thing that is written. A field has one shape for ever. */
export interface CellName {
  readonly kind: string;
  readonly id: string;
  readonly field: string;
  readonly shape: FieldShape;
  readonly member: string;
}

/** The write with the highest version stays (`higher`, last writer wins), or the lowest (`lower`, first writer wins). */
export interface RegisterChange extends CellName {
  readonly effect: 'register';
  /** JSON text of the value; kept and served to the byte. */
  readonly value: string;
  /** A cell is written under one rule for ever. */
  readonly rule: 'higher' | 'lower';
  readonly version: RegisterVersion;
}

/** The member is gone for ever, also when its add comes later: removes only grow. */
export interface RemoveChange extends CellName {
  readonly effect: 'remove';
  /** Of the op that removes; of several the lowest is remembered, for whoever asks the store why a member is gone. */
  readonly seq: bigint;
}

/** One effect of an op on a cell. All effects are idempotent and commute, a remove before its add too. */
export type ViewChange = RegisterChange | RemoveChange;

export interface Member {
  /** JSON text, as it was written. */
  readonly value: string;
  readonly version: RegisterVersion;
}

export interface Field {
  readonly shape: FieldShape;
  /** Present ones, written and not removed, in no order: at least one. */
  readonly members: ReadonlyMap<string, Member>;
}

/** A document is there while one of its members is, and so is a field. */
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

/** Per domain the revision of the reducers that folded an epoch: { event: 0, task: 2 }. */
export type Revisions = ReadonlyMap<string, number>;

export interface StoredMark {
  readonly watermark: WatermarkState;
  /** Generation of the view; a rebuild folds into a higher one. */
  readonly epoch: number;
  /** Compare-and-set counter of this epoch's mark; 0 means that none is stored. */
  readonly version: number;
  readonly revisions: Revisions;
}

export interface StreamMark {
  readonly stream: string;
  readonly mark: StoredMark;
}

/** An op that the mark passes although it is not folded, kept until an operator retries or drops it (FLD-6). */
export interface ParkedOp {
  readonly seq: bigint;
  /** null: the op cannot be read. */
  readonly opId: string | null;
  readonly reason: string;
  /** Wall clock, ms. */
  readonly parkedAtMs: number;
  readonly attempts: number;
}

/** The generation that a stream without a mark is folded into. */
export const FIRST_EPOCH = 1;

/**
 * Where folded state and marks live. Everything of a stream belongs to an epoch: rows, a mark, parked ops. Per stream one epoch is shown
 * to readers, and at most one other is built beside it (FLD-7):
 *
 *     saveMark(1) ─▶ 1 shown ── startBuild ─▶ 1 shown, 2 built ── switchTo(2) ─▶ 2 shown, rows of 1 wait for dropEpochs
 *                                                             └── abandonBuild(2) ─▶ 1 shown, rows of 2 wait for dropEpochs
 *
 * An epoch that was left never comes back, and its number is not used again: whoever still folds into it writes rows that nobody sees, and
 * its saveMark answers conflict for ever (FLD-5).
 *
 * Any number of workers share one store. Faults: `unavailable`, `unknown_outcome`, `disk_full`, `corrupt`, `misconfigured`, `internal`,
 * and those of `apply`. After one whose outcome is unknown every call may be repeated as it is.
 */
export interface Views {
  /** The mark of the stream's shown epoch; null when nothing is shown yet. */
  mark(stream: string): Promise<StoredMark | null>;

  /** The mark of the epoch that is built beside the shown one; null when none is. */
  build(stream: string): Promise<StoredMark | null>;

  /**
   * Applies every change; a rejected call may have applied some, each whole. When it resolves the rows outlive the process and are stored
   * at least as durably as a later saveMark. Rows of an epoch that is not shown are kept and not seen.
   *
   * A change that the store can never take rejects with `too_large` (a document or name beyond its bounds) or `invalid` (a text that it
   * cannot hold, such as a lone surrogate); the message names kind, id and field. Others of the call may have been applied: whoever wants to
   * know which op it was applies op by op.
   */
  apply(stream: string, epoch: number, changes: readonly ViewChange[]): Promise<void>;

  /**
   * Stores the mark iff the epoch is shown or built and its stored version is still `expectedVersion`; its version becomes
   * expectedVersion + 1. A stream of which nothing is shown takes FIRST_EPOCH with version 0 expected, which is shown from then on.
   * `conflict`: another worker was faster, or the epoch was left; nothing was written. A mark is never durable before rows that were
   * applied before it.
   */
  saveMark(
    stream: string,
    epoch: number,
    watermark: WatermarkState,
    expectedVersion: number,
    revisions: Revisions,
  ): Promise<'saved' | 'conflict'>;

  /**
   * Begins to build an epoch that was never used, and never FIRST_EPOCH: nothing is folded in it, its mark has version 1. `conflict`: one is
   * being built already; also by this very caller, when it repeats a call whose answer was lost.
   */
  startBuild(stream: string, revisions: Revisions): Promise<StoredMark | 'conflict'>;

  /**
   * The build is shown from now on, at once for all readers; the epoch that was shown is left. `conflict`: the epoch is not what is being
   * built, or its foldedThrough is below the shown one. An epoch that is shown already is `switched`.
   */
  switchTo(stream: string, epoch: number): Promise<'switched' | 'conflict'>;

  /** The build is left. Nothing happens when another epoch, or none, is built. */
  abandonBuild(stream: string, epoch: number): Promise<void>;

  /**
   * Deletes rows and parked ops of the epochs that were left, `limit` of them at most, and says how many; 0: none are left. A worker that
   * slept may write such rows again, so it is asked again now and then.
   */
  dropEpochs(stream: string, limit: number): Promise<number>;

  /** Keeps the op as parked; one of the same seq is replaced. */
  park(stream: string, epoch: number, op: ParkedOp): Promise<void>;

  /** Parked ops of the epoch with a seq above `after`, ascending, at most `limit`. */
  parked(stream: string, epoch: number, after: bigint, limit: number): Promise<readonly ParkedOp[]>;

  /** Nothing happens when no op of that seq is parked. */
  unpark(stream: string, epoch: number, seq: bigint): Promise<void>;

  /** Marks of shown epochs in UTF-8 order of the streams, from the first above `after` (null: from the start), at most `limit`. */
  marks(after: string | null, limit: number): Promise<readonly StreamMark[]>;

  /** A document of the shown epoch. Null for an unknown one, and for every document of a stream of which nothing is shown. */
  document(stream: string, kind: string, id: string): Promise<Document | null>;

  /**
   * Documents of a kind in UTF-8 order of their ids, from the first id above `after` (null: from the start), at most `limit` of them and
   * about `bytesMax` bytes of values (but at least one document when there is one). A page is of one epoch, and holds every document that
   * was there when it was asked for; in an SQL store it is one snapshot, in DynamoDB each document is.
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
