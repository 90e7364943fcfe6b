import type { Clock, Sleeper } from '@tidemark/libs-kernel';

/**
 * Deadlines that are all equally long, so that they end in the order in which they began: one timer serves any number.
 * `onEnd` is called once for each that was not removed before.
 */
export class Deadlines<T> {
  readonly #clock: Clock;
  readonly #sleeper: Sleeper;
  readonly #onEnd: (item: T) => void;
  /** In the order of their ends. */
  readonly #ends = new Map<T, number>();
  #watching = false;

  constructor(clock: Clock, sleeper: Sleeper, onEnd: (item: T) => void) {
    this.#clock = clock;
    this.#sleeper = sleeper;
    this.#onEnd = onEnd;
  }

  add(item: T, ms: number): void {
    this.#ends.set(item, this.#clock.monotonic() + ms);
    if (!this.#watching) void this.#watch();
  }

  remove(item: T): void {
    this.#ends.delete(item);
  }

  /** Sleeps from the first end to the next, and stops when there is none. */
  async #watch(): Promise<void> {
    this.#watching = true;
    for (;;) {
      const first = this.#ends.entries().next();
      if (first.done === true) break;
      const [item, endMs] = first.value;
      const leftMs = endMs - this.#clock.monotonic();
      if (leftMs > 0) await this.#sleeper.sleep(leftMs);
      else if (this.#ends.delete(item)) this.#onEnd(item);
    }
    this.#watching = false;
  }
}
