import type { Database } from 'better-sqlite3';
import { type BackoffShape, type Clock, Fault, type Random, type Sleeper, backoffMs } from '@tidemark/libs-kernel';
import type { QueueClock } from './queue-clock.ts';
import { WriteFailure, transact } from './transact.ts';

/** Bounds of one transaction: how long it holds others up, and how much of the log it takes. */
const WRITES_MAX = 1000;
const BYTES_MAX = 8 * 1024 * 1024;
/** How long a write waits for another process before it gives up. */
const BUSY_PATIENCE_MS = 5000;
const BUSY_BACKOFF: BackoffShape = { baseMs: 1, ceilingMs: 50 };

/** Keeps state for the length of a transaction. */
export interface Participant {
  begin(nowMs: number): void;
  /** Inside the transaction, after its last write. */
  finish(nowMs: number): void;
}

export interface Write<T> {
  /** Called once a try, inside the transaction. What it throws fails every write of the transaction: an outcome is returned. */
  readonly work: (nowMs: number) => T;
  /** Must be on disk when it resolves. Otherwise a power cut may undo it, but nothing durable that came after it. */
  readonly durable: boolean;
  /** Somebody who waits for something to fetch may find it now. */
  readonly wakes: boolean;
  readonly bytes?: number;
}

export interface JoinedWritesOptions {
  readonly db: Database;
  readonly queueClock: QueueClock;
  readonly participants: readonly Participant[];
  readonly onWake: () => void;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
}

interface Waiting extends Write<unknown> {
  readonly resolve: (value: unknown) => void;
  readonly reject: (failure: unknown) => void;
}

/**
 * The only way to write. Whatever is asked for in one turn of the event loop becomes one transaction and one fsync, in the order of the
 * calls; each caller gets its own result. How many wait is bounded by the callers: each waits for its own.
 */
export class JoinedWrites {
  readonly #options: JoinedWritesOptions;
  #waiting: Waiting[] = [];
  #draining: Promise<void> | undefined;
  #closed = false;
  #durable: boolean | undefined;
  #mayHaveLostFrames = false;

  constructor(options: JoinedWritesOptions) {
    this.#options = options;
  }

  /** Rejects with a WriteFailure, or a fault when the file is closed. */
  run<T>(write: Write<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new Fault('unavailable', 'the queue file is closed'));
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ ...write, resolve: resolve as (value: unknown) => void, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when the writes that wait have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#options.sleeper.sleep(0); // The rest of this turn joins.
      await this.#write(this.#take());
    }
    this.#draining = undefined;
  }

  #take(): Waiting[] {
    let bytes = 0;
    const fits = ({ bytes: more = 0 }: Waiting, at: number) => at < WRITES_MAX && (bytes += more) <= BYTES_MAX;
    const end = this.#waiting.findIndex((write, at) => at > 0 && !fits(write, at));
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#patiently(() => this.#transact(batch));
      if (batch.some(({ wakes }) => wakes)) this.#options.onWake();
      batch.forEach(({ resolve }, at) => resolve(results[at]));
    } catch (failure) {
      for (const { reject } of batch) reject(failure);
    }
  }

  /** Tries again while another process writes. */
  async #patiently<T>(tryIt: () => T): Promise<T> {
    const { clock, sleeper, random } = this.#options;
    const endsAtMs = clock.monotonic() + BUSY_PATIENCE_MS;
    for (let attempt = 0; ; attempt++) {
      try {
        return tryIt();
      } catch (thrown) {
        if (!(thrown instanceof WriteFailure && thrown.busy) || clock.monotonic() >= endsAtMs) throw thrown;
      }
      await sleeper.sleep(backoffMs(attempt, BUSY_BACKOFF, random));
    }
  }

  #transact(batch: readonly Waiting[]): unknown[] {
    const { db, queueClock, participants } = this.#options;
    this.#rescueFrames();
    this.#setDurable(batch.some(({ durable }) => durable));
    try {
      return transact(db, () => {
        const nowMs = queueClock.tick();
        for (const participant of participants) participant.begin(nowMs);
        const results = batch.map(({ work }) => work(nowMs));
        for (const participant of participants) participant.finish(nowMs);
        return results;
      });
    } catch (failure) {
      this.#mayHaveLostFrames = failure instanceof WriteFailure && !failure.nothingStored;
      throw failure;
    }
  }

  /**
   * After a failed fsync the system may have dropped parts of the log that were not on disk yet, also of transactions before. What is
   * still in its cache is moved to the main file before anything is added, or a later transaction would stand behind a gap.
   */
  #rescueFrames(): void {
    if (!this.#mayHaveLostFrames) return;
    const busy = this.#checkpoint();
    if (busy) throw new WriteFailure('the log is in use', { nothingStored: true, busy });
    this.#mayHaveLostFrames = false;
  }

  #checkpoint(): boolean {
    try {
      const busy = this.#options.db.pragma('wal_checkpoint(TRUNCATE)', { simple: true });
      return Number(busy) !== 0;
    } catch (thrown) {
      throw new WriteFailure(thrown, { nothingStored: true });
    }
  }

  #setDurable(durable: boolean): void {
    if (this.#durable === durable) return;
    this.#options.db.pragma(`synchronous = ${durable ? 'FULL' : 'NORMAL'}`);
    this.#durable = durable;
  }
}
