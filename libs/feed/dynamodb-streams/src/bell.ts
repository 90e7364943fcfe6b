import type { Sleeper } from '@tidemark/libs-kernel';

/** Lets one part wait for what another does. */
export class Bell {
  readonly #sleeper: Sleeper;
  readonly #waiting = new Set<AbortController>();

  constructor(sleeper: Sleeper) {
    this.#sleeper = sleeper;
  }

  ring(): void {
    for (const waiting of this.#waiting) waiting.abort();
  }

  /** Until it rings, or that time is over, or the signal aborts. */
  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const wake = () => stop.abort();
    this.#waiting.add(stop);
    signal?.addEventListener('abort', wake, { once: true });
    if (signal?.aborted) wake();
    await this.#sleeper.sleep(ms, stop.signal);
    signal?.removeEventListener('abort', wake);
    this.#waiting.delete(stop);
  }
}
