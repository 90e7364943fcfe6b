import { Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { Feed, FeedBatch, FeedChange } from './feed.ts';

/** What handles share, as workers share a change log: the changes in order, and how far they were checkpointed. */
export class MemoryChangeLog {
  readonly changes: FeedChange[] = [];
  /** Changes before this index have their effects stored. */
  checkpoint = 0;
  readonly #waiting = new Set<() => void>();

  announce(stream: string, head: bigint): void {
    this.changes.push({ stream, head });
    for (const wake of this.#waiting) wake();
  }

  /** Calls `wake` at every later change until the returned function is called. */
  onChange(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }
}

/** The feed's behaviour without a store: a new handle goes on behind the last checkpoint. */
export class MemoryFeed implements Feed {
  protected readonly log: MemoryChangeLog;
  protected at: number;
  protected readonly sleeper: Sleeper;
  #closed = false;

  constructor(log: MemoryChangeLog, sleeper: Sleeper) {
    this.log = log;
    this.at = log.checkpoint;
    this.sleeper = sleeper;
  }

  async read(max: number, waitMs: number, signal?: AbortSignal): Promise<FeedBatch> {
    await this.ping();
    if (this.at === this.log.changes.length) await this.wait(waitMs, signal);
    const changes = this.log.changes.slice(this.at, this.at + max);
    this.at += changes.length;
    return { changes, position: String(this.at) };
  }

  async checkpoint(position: string): Promise<void> {
    this.log.checkpoint = Math.max(this.log.checkpoint, Number(position));
  }

  async ping(): Promise<void> {
    if (this.#closed) throw new Fault('unavailable', 'the feed is closed');
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  protected async wait(waitMs: number, signal?: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const wake = () => stop.abort();
    const forget = this.log.onChange(wake);
    signal?.addEventListener('abort', wake, { once: true });
    if (signal?.aborted) wake();
    await this.sleeper.sleep(waitMs, stop.signal);
    signal?.removeEventListener('abort', wake);
    forget();
  }
}
