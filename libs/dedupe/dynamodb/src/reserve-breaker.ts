import { type Clock, Fault } from '@tidemark/libs-kernel';
import { type BreakerState, CLOSED, afterAnswer, afterFailure, openForMs } from './breaker.ts';

/** The breaker of all reserves of this process. Commits and releases do not ask it: they end what reserves began. */
export class ReserveBreaker {
  readonly #clock: Clock;
  readonly #onRefusal: () => void;
  #state: BreakerState = CLOSED;
  #last: Fault | undefined;

  constructor(clock: Clock, onRefusal: () => void) {
    this.#clock = clock;
    this.#onRefusal = onRefusal;
  }

  get isOpen(): boolean {
    return openForMs(this.#state, this.#clock.monotonic()) > 0;
  }

  assertClosed(): void {
    if (this.isOpen) throw this.refusal();
  }

  /** Counts a reserve that was not sent, and says why: the last fault is the cause. */
  refusal(): Fault {
    this.#onRefusal();
    const retryAfterMs = Math.ceil(openForMs(this.#state, this.#clock.monotonic()));
    const message = 'the dedupe table is left alone for a moment, since it did not answer the last reserves';
    return new Fault('unavailable', message, { retryAfterMs, cause: this.#last });
  }

  failed(fault: Fault): void {
    this.#last = fault;
    this.#state =
      fault.code === 'unavailable' ? afterFailure(this.#state, this.#clock.monotonic()) : afterAnswer(this.#state);
  }

  answered(): void {
    this.#state = afterAnswer(this.#state);
  }
}
