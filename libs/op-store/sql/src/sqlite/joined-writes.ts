import { Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { Answer, AnswerTo, Command, Outcome, Writer } from './command.ts';
import { toFault } from './map-error.ts';

/** Bounds of one transaction: how long it holds others up, and how much of the log it takes. */
const WEIGHT_MAX: Weight = { rows: 10_000, units: 16 * 1024 * 1024 };

/** What a write adds to its transaction: rows, and UTF-16 units of their text. */
export interface Weight {
  readonly rows: number;
  readonly units: number;
}

export interface JoinedWritesOptions {
  readonly file: string;
  readonly writer: Writer;
  readonly sleeper: Sleeper;
}

interface Waiting {
  readonly command: Command;
  readonly weight: Weight;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (failure: unknown) => void;
}

/**
 * The only way to write. What is asked for while a transaction runs becomes the next one, with one fsync for all of it, in the order of the
 * calls; each caller gets its own answer. How many wait is bounded by the callers.
 */
export class JoinedWrites {
  /** Rejects when nothing can be written any more. */
  readonly failed: Promise<never>;
  readonly #options: JoinedWritesOptions;
  readonly #fail: (fault: Fault) => void;
  #waiting: Waiting[] = [];
  #draining: Promise<void> | undefined;
  #closed = false;

  constructor(options: JoinedWritesOptions) {
    this.#options = options;
    const { promise, reject } = Promise.withResolvers<never>();
    this.#fail = reject;
    this.failed = Promise.race([promise, options.writer.failed]);
    // Whoever does not listen is told by every write that is refused.
    this.failed.catch(() => {});
  }

  run<C extends Command>(command: C, weight: Weight): Promise<AnswerTo[C['kind']]> {
    if (this.#closed) return Promise.reject(new Fault('unavailable', `${this.#options.file} is closed`));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ command, weight, resolve: resolve as (answer: Answer) => void, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when the writes that wait have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#options.sleeper.sleep(0); // The rest of this turn joins.
      await this.#write(this.#take());
    }
    this.#draining = undefined;
  }

  #take(): Waiting[] {
    let rows = 0;
    let units = 0;
    const end = this.#waiting.findIndex(({ weight }, at) => {
      rows += weight.rows;
      units += weight.units;
      return at > 0 && (rows > WEIGHT_MAX.rows || units > WEIGHT_MAX.units);
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      const { outcomes, fatal } = await this.#options.writer.write(batch.map(({ command }) => command));
      if (fatal !== null) this.#fail(toFault(fatal));
      batch.forEach((waiting, at) => settle(waiting, outcomes[at] as Outcome));
    } catch (failure) {
      for (const { reject } of batch) reject(failure);
    }
  }
}

function settle({ resolve, reject }: Waiting, outcome: Outcome): void {
  if (outcome.kind === 'done') resolve(outcome.answer);
  else reject(toFault(outcome.fault));
}
