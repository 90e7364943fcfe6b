import { type Sleeper, asFault } from '@tidemark/libs-kernel';
import type { ChangeIndex } from '@tidemark/libs-op-store-contract';
import type { Seats } from './tail-seats.ts';

export interface TailPollOptions {
  readonly changes: ChangeIndex;
  readonly seats: Seats;
  readonly sleeper: Sleeper;
  readonly stopping: AbortSignal;
  readonly log: { warn(fields: object, message: string): void };
  /** How long until the next poll. */
  everyMs(): number;
}

const STREAMS_MAX = 1000;
const PAGES_MAX = 100;

/**
 * Finds what nobody told of, by asking the store what changed: one loop for all readers, and none while nobody waits. A failing store is
 * asked again at the next turn, from the same position. A position may miss what was appended after rows were deleted: whoever waits reads
 * again by itself after a while, at its heartbeat or at the end of its wait.
 */
export class TailPoll {
  readonly #options: TailPollOptions;
  #started: Promise<void> | undefined;
  #position = '';
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
      this.#position = await this.#options.changes.position();
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
      await this.#wakeChanged();
      this.#failing = false;
    } catch (thrown) {
      if (!this.#failing) this.#options.log.warn({ error: asFault(thrown).message }, 'cannot look for appends');
      this.#failing = true;
    }
  }

  async #wakeChanged(): Promise<void> {
    const { changes, seats } = this.#options;
    for (let page = 0; page < PAGES_MAX; page++) {
      const { changed, position } = await changes.changes(this.#position, STREAMS_MAX);
      for (const { stream, head } of changed) seats.wake(stream, 'poll', head);
      if (position === this.#position) return;
      this.#position = position;
    }
  }
}
