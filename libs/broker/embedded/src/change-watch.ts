import type { Database } from 'better-sqlite3';
import type { Sleeper } from '@tidemark/libs-kernel';

/** How often the file is looked at: soon after a change, then ever more seldom. */
const LOOK_MIN_MS = 2;
const LOOK_MAX_MS = 100;
const LOOK_GROWTH = 1.5;

/**
 * Wakes those who wait for a change of the file. Changes of this process wake at once; those of others are seen by SQLite's data
 * version, a number in shared memory: one look for all who wait, and none while nobody does.
 */
export class ChangeWatch {
  readonly #sleeper: Sleeper;
  readonly #dataVersion;
  readonly #waiting = new Set<() => void>();
  #ownChanges = 0;
  #looking = false;
  #closed = false;

  constructor(db: Database, sleeper: Sleeper) {
    this.#sleeper = sleeper;
    this.#dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  }

  /** A number that differs after any change. To miss none, take it before looking for what is waited for. */
  state(): number {
    return this.#closed ? -1 : this.#dataVersion.get()! + this.#ownChanges;
  }

  changed(): void {
    this.#ownChanges++;
    this.#wakeAll();
  }

  /** Resolves at the first change since `seen`, after `ms`, when `signal` aborts, or at the close. */
  async next(seen: number, ms: number, signal?: AbortSignal): Promise<void> {
    if (this.state() !== seen || signal?.aborted) return;
    const woken = new AbortController();
    const wake = () => woken.abort();
    this.#waiting.add(wake);
    signal?.addEventListener('abort', wake, { once: true });
    if (!this.#looking) void this.#look(seen);
    await this.#sleeper.sleep(ms, woken.signal);
    signal?.removeEventListener('abort', wake);
    this.#waiting.delete(wake);
  }

  close(): void {
    this.#closed = true;
    this.#wakeAll();
  }

  async #look(seen: number): Promise<void> {
    this.#looking = true;
    let everyMs = LOOK_MIN_MS;
    while (this.#waiting.size > 0) {
      await this.#sleeper.sleep(everyMs);
      everyMs = Math.min(everyMs * LOOK_GROWTH, LOOK_MAX_MS);
      const state = this.#stateOrChange(seen);
      if (state === seen) continue;
      seen = state;
      everyMs = LOOK_MIN_MS;
      this.#wakeAll();
    }
    this.#looking = false;
  }

  /** What cannot be read counts as a change: whoever wakes meets the error, and reports it. */
  #stateOrChange(seen: number): number {
    try {
      return this.state();
    } catch {
      return seen - 1;
    }
  }

  #wakeAll(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
