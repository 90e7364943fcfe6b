import { type Sleeper, asFault } from '@tidemark/libs-kernel';
import type { TailLook } from './tail-look.ts';
import type { Seats } from './tail-seats.ts';

export interface TailPollOptions {
  readonly look: TailLook;
  readonly seats: Seats;
  readonly sleeper: Sleeper;
  readonly stopping: AbortSignal;
  readonly log: { warn(fields: object, message: string): void };
  /** How long until the next poll. */
  everyMs(): number;
}

/**
 * Finds what nobody told of, by asking the store what changed: one loop for all readers, and none while nobody waits. A failing store is
 * asked again at the next turn, from the same position. A position may miss what was appended after rows were deleted: whoever waits reads
 * again by itself after a while, at its heartbeat or at the end of its wait.
 */
export class TailPoll {
  readonly #options: TailPollOptions;
  #started: Promise<void> | undefined;
  #failing = false;

  constructor(options: TailPollOptions) {
    this.#options = options;
  }

  /** Resolves when every append that resolves from now on will be found, as long as a seat is taken. Faults: those of the store. */
  async following(): Promise<void> {
    this.#started ??= this.#start();
    await this.#started;
  }

  async #start(): Promise<void> {
    try {
      await this.#options.look.begin();
    } catch (thrown) {
      this.#started = undefined;
      throw thrown;
    }
    void this.#loop();
  }

  async #loop(): Promise<void> {
    const { seats, sleeper, stopping, everyMs } = this.#options;
    while (seats.count > 0 && !stopping.aborted) {
      await sleeper.sleep(everyMs(), stopping);
      if (!stopping.aborted) await this.#poll();
    }
    // In the turn in which nobody sat: whoever comes from now on starts anew.
    this.#started = undefined;
  }

  async #poll(): Promise<void> {
    try {
      const { look, seats } = this.#options;
      await look.look((stream, head) => seats.wake(stream, 'poll', head));
      this.#failing = false;
    } catch (thrown) {
      if (!this.#failing) this.#options.log.warn({ error: asFault(thrown).message }, 'cannot look for appends');
      this.#failing = true;
    }
  }
}
