import type { LevelFolder, Put } from './level-folder.ts';
import type { StoredIds } from './stored-ids.ts';

/**
 * One write at a time, in order. Commits that wait while another write runs share one batch and one fsync, so that 64 callers cost
 * few fsyncs and never fill the thread pool that reads need too. How many wait is bounded by the callers: each waits for its own.
 */
export class JoinedWrites {
  readonly #level: LevelFolder;
  readonly #stored: StoredIds;
  #waiting: Put[] = [];
  #next: Promise<void> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(level: LevelFolder, stored: StoredIds) {
    this.#level = level;
    this.#stored = stored;
  }

  /** Resolves when the puts are on disk; rejects when their batch failed, with outcome `unknown`. */
  put(puts: readonly Put[]): Promise<void> {
    for (const put of puts) this.#waiting.push(put);
    return (this.#next ??= this.alone(() => this.#flush()));
  }

  /** Runs `work` while no write of anybody else runs. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  #flush(): Promise<void> {
    const puts = this.#waiting;
    this.#waiting = [];
    this.#next = undefined;
    for (const { key } of puts) this.#stored.add(key);
    return this.#level.write(puts, { sync: true });
  }
}
