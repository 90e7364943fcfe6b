import { type Fault, type Random, type Sleeper, asFault, backoffMs } from '@tidemark/libs-kernel';
import type { DedupeLog } from './check-table.ts';

export interface OpeningParts {
  /** Looks whether the table can be used. */
  readonly check: () => Promise<void>;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log: DedupeLog;
}

const WAIT_MS_MIN = 1000;
const BACKOFF = { baseMs: 1000, ceilingMs: 29_000 };

/**
 * Whether the table was seen to be right. A table that cannot be looked at now (throttled, out of reach) is no reason not to start: the
 * look is repeated in the background, after 1 to 30 s, until it succeeds, and meanwhile every call gets its fault.
 */
export class Opening {
  readonly #parts: OpeningParts;
  readonly #stopping = new AbortController();
  #fault: Fault | undefined;
  #looking: Promise<void> = Promise.resolve();

  private constructor(parts: OpeningParts) {
    this.#parts = parts;
  }

  /** Rejects when the table is wrong. */
  static async begin(parts: OpeningParts): Promise<Opening> {
    const opening = new Opening(parts);
    await opening.#look();
    if (opening.#fault === undefined) return opening;
    if (opening.#fault.code !== 'unavailable') throw opening.#fault;
    parts.log.warn({ reason: opening.#fault.message }, 'the dedupe store is not open yet');
    opening.#looking = opening.#lookOn();
    return opening;
  }

  assertOpen(): void {
    if (this.#fault) throw this.#fault;
  }

  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#looking;
  }

  async #lookOn(): Promise<void> {
    const { sleeper, random, log } = this.#parts;
    const { signal } = this.#stopping;
    for (let looks = 0; this.#fault; looks++) {
      await sleeper.sleep(WAIT_MS_MIN + backoffMs(looks, BACKOFF, random), signal);
      if (signal.aborted) return;
      await this.#look();
    }
    log.info({}, 'the dedupe store is open');
  }

  async #look(): Promise<void> {
    this.#fault = await this.#parts.check().then(
      () => undefined,
      (thrown: unknown) => asFault(thrown),
    );
  }
}
