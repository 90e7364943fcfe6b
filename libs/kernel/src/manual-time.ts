import type { Clock, Sleeper } from './clock.ts';

/** A clock and sleeper that move only when told to. */
export class ManualTime implements Clock, Sleeper {
  #elapsedMs = 0;
  #wallOffsetMs: number;
  #sleeping: { readonly wakesAtMs: number; readonly wake: () => void }[] = [];

  constructor(startMs = 1_790_000_000_000) {
    this.#wallOffsetMs = startMs;
  }

  now(): number {
    return this.#wallOffsetMs + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  /** How many sleeps have not ended; lets a test wait for code to go to sleep before it moves time. */
  get sleepers(): number {
    return this.#sleeping.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = { wakesAtMs: this.#elapsedMs + ms, wake: resolve };
      this.#sleeping.push(sleeper);
      signal?.addEventListener(
        'abort',
        () => {
          this.#sleeping = this.#sleeping.filter((other) => other !== sleeper);
          resolve();
        },
        { once: true },
      );
    });
  }

  /** Both clocks move on; sleeps that end by then are woken in order. */
  advance(ms: number): void {
    this.#elapsedMs += ms;
    const due = this.#sleeping.filter((sleeper) => sleeper.wakesAtMs <= this.#elapsedMs);
    this.#sleeping = this.#sleeping.filter((sleeper) => sleeper.wakesAtMs > this.#elapsedMs);
    due.sort((a, b) => a.wakesAtMs - b.wakesAtMs);
    for (const sleeper of due) sleeper.wake();
  }

  /** The wall clock alone jumps (an NTP step); the monotonic clock does not notice. */
  jumpWall(ms: number): void {
    this.#wallOffsetMs += ms;
  }
}
