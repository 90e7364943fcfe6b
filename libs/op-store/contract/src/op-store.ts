import type { Fault } from '@tidemark/libs-kernel';
import type { Op } from '@tidemark/libs-wire';

/** An op at its place. Seqs are dense from 1 on streams written only by Tidemark (RLY-4). */
export interface SequencedOp {
  readonly seq: bigint;
  readonly op: Op;
}

/** `stored`: the op took seq now. `existing`: the stream held this op id already; its first content stays (RLY-5). */
export type AppendOutcome = { readonly kind: 'stored' | 'existing'; readonly seq: bigint };

export interface ReadPage {
  /** In seq order, contiguous from `after` except for proved-burned seqs. */
  readonly ops: readonly SequencedOp[];
  /** Seq of the last op (or judged burned seq) passed; exactly `after` when nothing was passed. */
  readonly next: bigint;
}

/** What stands at a seq and cannot be read as an op, and why. */
export interface UnreadableOp {
  readonly seq: bigint;
  readonly op: null;
  readonly problem: string;
}

export type SeenOp = SequencedOp | UnreadableOp;

export interface StreamHead {
  readonly stream: string;
  /** Highest seq ever given; 0 for an unknown stream. */
  readonly head: bigint;
}

export interface StreamState {
  /** Highest seq ever given; 0 for an unknown stream. */
  readonly head: bigint;
  /** Seqs up to the head that hold no op and never will: erased, or left out by a writer of another make. */
  readonly burned: bigint;
}

export interface ChangePage {
  /** Streams that took an append after the position. At least once each; the same stream may come again in a later page. */
  readonly changed: readonly StreamHead[];
  /** Where the next call goes on. Equal to the given position when nothing changed. */
  readonly position: string;
}

/** Listening for appends; ended by close. */
export interface AppendWatch {
  close(): Promise<void>;
}

/**
 * The op log: one append-only sequence per stream.
 *
 * Faults: `unavailable` (busy, unreachable), `disk_full`, `corrupt` (a stored row cannot be read as an op; nothing of the page is
 * served, or the ops before that one), `misconfigured`, `unknown_outcome`, `internal`.
 */
export interface OpStore {
  /**
   * Why this store can never take the op (its size, a character that it cannot hold), known before anything is sent; null when it can.
   * Pure. Faults: `too_large`, `invalid`, naming the op (RLY-12).
   */
  refusal(op: Op): Fault | null;

  /**
   * Stores the ops in order at the end of the stream and returns one outcome per op, in order. Idempotent by op id within the stream,
   * also inside one call. Durable when it resolves (RLY-6). Ops before a failing op may stay stored; a repeat of the whole call
   * finds them. An op that {@link refusal} names must not be given. Calls that wait together may share a transaction; each stands or
   * fails alone. Safe with any number of processes on one database (RLY-18).
   *
   * `unwanted`: once it aborts nobody waits for the answer. A store that sends several transactions sends no further one, and rejects
   * with `deadline`; what was sent stays.
   */
  append(stream: string, ops: readonly Op[], unwanted?: AbortSignal): Promise<readonly AppendOutcome[]>;

  /**
   * Ops with seq > max(after, 0), ascending, at most `limit` ops and about `bytesMax` bytes of text (default PULL_PAGE_BYTES_MAX), but
   * at least one op when there is one and `limit` allows it. Strongly consistent: sees every append that resolved before the call.
   * Once a reader was given seq n, no op with a lower seq becomes visible later (RLY-3).
   */
  read(stream: string, after: bigint, limit: number, bytesMax?: number): Promise<ReadPage>;

  /**
   * Ops with seq > max(after, 0) that are visible now, ascending, whatever is missing before and between them: nothing is promised about
   * what is not there. At most `limit` ops and about `bytesMax` bytes, but at least one when there is one and `limit` allows it. One that
   * cannot be read comes as an {@link UnreadableOp} and ends nothing. For who folds early and passes a mark later.
   */
  readAhead(stream: string, after: bigint, limit: number, bytesMax?: number): Promise<readonly SeenOp[]>;

  /**
   * Highest n for which it is proved that every seq of after+1 to n holds no op and never will; `after` when nothing is proved. Above the
   * last op too, where no read passes a burned seq. Each call does a bounded part of a long run: a later call goes on behind it. Fault
   * `conflict` when the next seq lies at or below the floor.
   */
  burnedThrough(stream: string, after: bigint): Promise<bigint>;

  /** Ops at or below this seq were removed by a truncation: one that is missing there is not burned. 0: none were. */
  floor(stream: string): Promise<bigint>;

  /**
   * Where the op of that id is stored, once every reader may see it; null when the stream holds none. Strongly consistent. A store may
   * not find an op that an older writer stored.
   */
  seqOf(stream: string, opId: string): Promise<bigint | null>;

  head(stream: string): Promise<bigint>;

  /** For an operator: may take time proportional to the stream. */
  describe(stream: string): Promise<StreamState>;

  /**
   * For an operator: removes every op of the stream and answers how many there were. The head stays: later ops take the seqs after it, so
   * a reader's cursor never meets other content (RLY-3). The removed op ids are forgotten: a re-push of one stores it anew. Durable.
   */
  erase(stream: string): Promise<bigint>;

  /** Streams that hold an op, with their heads, in UTF-8 order of their ids, from the first id above `after` (null: from the start). */
  streams(after: string | null, limit: number): Promise<readonly StreamHead[]>;

  /**
   * Calls `onAppend` with the stream of appends by any process, soon after they commit. A hint: one may be missing or repeated, so a
   * reader that needs certainty reads. null: this store cannot tell.
   */
  watch(onAppend: (stream: string) => void): Promise<AppendWatch | null>;

  /** Resolves when the store answers; for readiness. */
  ping(): Promise<void>;

  /** Gives up this handle. Any later call rejects with `unavailable`; a second close does nothing. */
  close(): Promise<void>;
}

/** Which streams changed, of a store that can say it. */
export interface ChangeIndex {
  /** Opaque position of "now": `changes(position)` returns every stream whose append resolves after this call began. */
  position(): Promise<string>;

  /**
   * See {@link ChangePage}; at most `limit` streams, `limit` >= 1. A page with fewer may still not be the last: the end is an unmoved
   * position. A hint to look at a stream, never an order across streams; positions are not kept across restarts.
   */
  changes(position: string, limit: number): Promise<ChangePage>;
}

/** An op store that can say which of its streams changed. */
export interface IndexedOpStore extends OpStore, ChangeIndex {}
