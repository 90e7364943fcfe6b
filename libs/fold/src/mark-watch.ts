import { Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { StoredMark, Views } from '@tidemark/libs-views-contract';

export interface MarkWatchOptions {
  readonly views: Views;
  readonly sleeper: Sleeper;
}

export interface Waited {
  /** The mark is at the seq or above it. */
  readonly reached: boolean;
  /** As it is stored now; null when the stream has none. */
  readonly mark: StoredMark | null;
}

interface Waiter {
  readonly seq: bigint;
  /** Aborts when the wait is over, for whatever reason. */
  readonly over: AbortController;
}

interface WatchedStream {
  readonly waiters: Set<Waiter>;
  /** Aborts when the last waiter has left. */
  readonly left: AbortController;
}

/** All waits of one process together. */
const WAITERS_MAX = 1000;
/** How often the mark of a stream with waiters is read, in case another process folds it; one read for all of them. */
const POLL_MS = 100;

/** Lets readers wait for a mark. Woken by the worker's own saves at once, by those of others at the next poll. */
export class MarkWatch {
  readonly #views: Views;
  readonly #sleeper: Sleeper;
  readonly #streams = new Map<string, WatchedStream>();
  #waiting = 0;

  constructor({ views, sleeper }: MarkWatchOptions) {
    this.#views = views;
    this.#sleeper = sleeper;
  }

  /** Tells that this process saved the mark. */
  saved(stream: string, mark: StoredMark): void {
    for (const { seq, over } of this.#streams.get(stream)?.waiters ?? []) if (isAt(mark, seq)) over.abort();
  }

  async waitFor(stream: string, seq: bigint, waitMs: number, signal?: AbortSignal): Promise<Waited> {
    if (this.#waiting >= WAITERS_MAX)
      throw new Fault('overloaded', 'too many readers wait for a mark', { retryAfterMs: 1000 });
    const waiter: Waiter = { seq, over: new AbortController() };
    this.#waiting++;
    const watched = this.#enter(stream, waiter);
    try {
      // Entered before this look, so that no save falls between the two.
      const mark = await this.#views.mark(stream);
      if (isAt(mark, seq) || waitMs <= 0) return { reached: isAt(mark, seq), mark };
      await this.#sleeper.sleep(waitMs, signal ? AbortSignal.any([signal, waiter.over.signal]) : waiter.over.signal);
      const last = await this.#views.mark(stream);
      return { reached: isAt(last, seq), mark: last };
    } finally {
      this.#waiting--;
      this.#leave(stream, watched, waiter);
    }
  }

  #enter(stream: string, waiter: Waiter): WatchedStream {
    const known = this.#streams.get(stream);
    if (known) {
      known.waiters.add(waiter);
      return known;
    }
    const watched: WatchedStream = { waiters: new Set([waiter]), left: new AbortController() };
    this.#streams.set(stream, watched);
    void this.#poll(stream, watched);
    return watched;
  }

  #leave(stream: string, watched: WatchedStream, waiter: Waiter): void {
    watched.waiters.delete(waiter);
    waiter.over.abort();
    if (watched.waiters.size > 0) return;
    this.#streams.delete(stream);
    watched.left.abort();
  }

  async #poll(stream: string, { left }: WatchedStream): Promise<void> {
    for (;;) {
      await this.#sleeper.sleep(POLL_MS, left.signal);
      if (left.signal.aborted) return;
      // A fault now may be gone at the next poll; the look at the end of the wait reports one that stays.
      const mark = await this.#views.mark(stream).catch(() => null);
      if (mark) this.saved(stream, mark);
    }
  }
}

function isAt(mark: StoredMark | null, seq: bigint): boolean {
  return (mark?.watermark.foldedThrough ?? 0n) >= seq;
}
