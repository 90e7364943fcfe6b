import type { Broker } from '@tidemark/libs-broker-contract';
import type { Clock, Random, Sleeper } from '@tidemark/libs-kernel';
import type { ChangeIndex, OpStore } from '@tidemark/libs-op-store-contract';
import { HeadsLook } from './tail-heads.ts';
import { TailHints } from './tail-hints.ts';
import { IndexLook } from './tail-look.ts';
import { TailPoll } from './tail-poll.ts';
import { type Seat, Seats, type WakeSource } from './tail-seats.ts';

export interface TailHubOptions {
  readonly opStore: Pick<OpStore, 'head' | 'watch'>;
  /** null: the store cannot say what changed, and the head of every stream that is waited for is polled. */
  readonly changes: ChangeIndex | null;
  readonly broker: Pick<Broker, 'notify' | 'onNotify'> | null;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log: { warn(fields: object, message: string): void };
  readonly metrics: {
    waiting(readers: number): void;
    woken(source: WakeSource): void;
  };
  /** Readers that wait at the same time, over all streams. */
  readonly readersMax: number;
  /** Between two polls while nothing tells of the appends of others. */
  readonly pollMs: number;
  /** Between two polls while something does. */
  readonly heardPollMs: number;
  readonly stopping: AbortSignal;
}

/**
 * Wakes readers that wait for a stream when it took an append, in this process or another (RLY-14):
 *
 *     append here ───────────────▶ wake at once, and tell the other processes
 *     append there ──┬─ told ────▶ wake      (Postgres, or the broker: a hint, may be lost)
 *                    └─ polled ──▶ wake      (the truth: one look for all readers, none while nobody waits)
 */
export class TailHub {
  readonly #seats: Seats;
  readonly #hints: TailHints;
  readonly #poll: TailPoll;
  #news = 0;

  constructor(options: TailHubOptions) {
    const { metrics, pollMs, heardPollMs } = options;
    const onWake = (source: WakeSource) => metrics.woken(source);
    const onCount = (readers: number) => metrics.waiting(readers);
    const seats = new Seats({ ...options, onWake, onCount });
    const hints = new TailHints({ ...options, seats });
    const look =
      options.changes === null
        ? new HeadsLook({ ...options, waited: () => seats.streams })
        : new IndexLook(options.changes);
    this.#poll = new TailPoll({ ...options, look, seats, everyMs: () => (hints.heard ? heardPollMs : pollMs) });
    this.#seats = seats;
    this.#hints = hints;
  }

  /** Rises whenever a read that began before may show too little to somebody. */
  get news(): number {
    return this.#seats.wakes + this.#news;
  }

  /** After an append of this process, whatever became of it. Never throws. */
  appended(stream: string): void {
    this.#seats.wake(stream, 'append');
    this.#hints.tell(stream);
  }

  /**
   * A seat: every append that resolves after this did is a sign to it. Faults: `overloaded`, those of the store.
   * `gone` ends the wait, as the stop of the relay does. It must be left.
   */
  async wait(stream: string, gone: AbortSignal): Promise<Seat> {
    const seat = this.#seats.take(stream, gone);
    try {
      await this.#poll.following();
      this.#news++;
      return seat;
    } catch (thrown) {
      seat.leave();
      throw thrown;
    }
  }

  /** Hears of the appends of other processes until `signal` aborts. Without it only polling finds them. */
  run(signal: AbortSignal): Promise<void> {
    return this.#hints.run(signal);
  }
}

/** The store's append, with what it cannot take, after which this relay's and other relays' readers are woken; also when it failed, for a part may be stored. */
export function toldAppends(
  opStore: Pick<OpStore, 'append' | 'refusal'>,
  hub: Pick<TailHub, 'appended'>,
): Pick<OpStore, 'append' | 'refusal'> {
  return {
    refusal: (op) => opStore.refusal(op),
    append: async (stream, ops, unwanted) => {
      try {
        return await opStore.append(stream, ops, unwanted);
      } finally {
        hub.appended(stream);
      }
    },
  };
}
