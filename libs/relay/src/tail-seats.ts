import { type Clock, Fault, type Sleeper } from '@tidemark/libs-kernel';

/** What told that a stream took an append. */
export type WakeSource = 'append' | 'store' | 'broker' | 'poll';

export interface SeatsOptions {
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  /** More are refused with `overloaded` (OPS-4). */
  readonly readersMax: number;
  readonly stopping: AbortSignal;
  onWake(source: WakeSource): void;
  onCount(readers: number): void;
}

/** When a reader that found no seat may come again. */
const RETRY_WHEN_FULL_MS = 5000;

/**
 * Who waits for which stream. A reader takes its seat first, then notes the signs, reads, and waits only for signs that came since:
 *
 *     seat ─▶ signs ─▶ read: empty ─▶ next(signs) ─▶ signs ─▶ read: ops
 *                  ▲                       │
 *                  └── an append anywhere here is a sign, and next() returns at once (R20)
 */
export class Seats {
  readonly #options: SeatsOptions;
  readonly #byStream = new Map<string, Set<Seat>>();
  /** Calls of wake. */
  wakes = 0;
  #count = 0;

  constructor(options: SeatsOptions) {
    this.#options = options;
    options.stopping.addEventListener('abort', () => this.#endAll(), { once: true });
  }

  get count(): number {
    return this.#count;
  }

  /** The streams that somebody waits for. */
  get streams(): readonly string[] {
    return [...this.#byStream.keys()];
  }

  /** A seat until it is left or `gone` aborts. Fault `overloaded`. */
  take(stream: string, gone: AbortSignal): Seat {
    const { readersMax } = this.#options;
    if (this.#count >= readersMax)
      throw new Fault('overloaded', `${readersMax} readers wait already`, { retryAfterMs: RETRY_WHEN_FULL_MS });
    const seat = new Seat(this.#options, () => this.#remove(stream, seat));
    const seats = this.#byStream.get(stream) ?? new Set();
    this.#byStream.set(stream, seats.add(seat));
    this.#options.onCount(++this.#count);
    if (gone.aborted || this.#options.stopping.aborted) seat.end();
    else gone.addEventListener('abort', () => seat.end(), { once: true });
    return seat;
  }

  /** Signs to the readers of the stream that it took an append: to all, or to those that have not read as far as `head`. */
  wake(stream: string, source: WakeSource, head?: bigint): void {
    this.wakes++;
    let woken = false;
    for (const seat of this.#byStream.get(stream) ?? []) woken = seat.sign(head) || woken;
    if (woken) this.#options.onWake(source);
  }

  #remove(stream: string, seat: Seat): void {
    const seats = this.#byStream.get(stream);
    if (seats?.delete(seat) !== true) return;
    if (seats.size === 0) this.#byStream.delete(stream);
    this.#options.onCount(--this.#count);
  }

  #endAll(): void {
    for (const seats of this.#byStream.values()) for (const seat of seats) seat.end();
  }
}

/** One waiting reader. */
export class Seat {
  /** How far the reader has read. */
  at = 0n;
  readonly #clock: Clock;
  readonly #sleeper: Sleeper;
  readonly #leave: () => void;
  #signs = 0;
  #signedAtMs: number | undefined;
  #over = false;
  #wake: (() => void) | undefined;

  constructor({ clock, sleeper }: Pick<SeatsOptions, 'clock' | 'sleeper'>, leave: () => void) {
    this.#clock = clock;
    this.#sleeper = sleeper;
    this.#leave = leave;
  }

  /** Rises with every sign. To miss none, take it before reading. */
  get signs(): number {
    return this.#signs;
  }

  /** The client has gone, or the relay stops: wait no more. */
  get over(): boolean {
    return this.#over;
  }

  /** Resolves at the first sign since `seen`, after `ms`, or when it is over. */
  async next(seen: number, ms: number): Promise<void> {
    if (this.#signs !== seen || this.#over) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await this.#sleeper.sleep(ms, woken.signal);
    this.#wake = undefined;
  }

  /** False when the reader has read that far already. */
  sign(head: bigint | undefined): boolean {
    if (head !== undefined && head <= this.at) return false;
    this.#signs++;
    this.#signedAtMs ??= this.#clock.monotonic();
    this.#wake?.();
    return true;
  }

  /** Milliseconds since the first sign that was not answered with ops yet; undefined when there was none. */
  answered(): number | undefined {
    const signedAtMs = this.#signedAtMs;
    this.#signedAtMs = undefined;
    return signedAtMs === undefined ? undefined : this.#clock.monotonic() - signedAtMs;
  }

  end(): void {
    this.#over = true;
    this.#wake?.();
  }

  /** Twice is fine. */
  leave(): void {
    this.end();
    this.#leave();
  }
}
