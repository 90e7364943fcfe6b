import { Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { Answer, AnswerTo, Command, Outcome, Writer } from './command.ts';
import { toFault } from './map-error.ts';
import { type Weight, countThatFit, sumOf } from './weight.ts';

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
 * The only way to write. What is asked for in one turn of the event loop goes to the writer together, which joins it with whatever else it
 * has been sent by then: one transaction with one fsync, in the order of the calls; each caller gets its own answer. How many wait is
 * bounded by the callers.
 */
export class JoinedWrites {
  /** Rejects when nothing can be written any more. */
  readonly failed: Promise<never>;
  readonly #options: JoinedWritesOptions;
  readonly #fail: (fault: Fault) => void;
  /** The calls of this turn. */
  #waiting: Waiting[] = [];
  /** Ends when the last call is answered, and so all before it. */
  #last: Promise<void> | undefined;
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
      if (this.#waiting.length === 0) this.#last = this.#send();
      this.#waiting.push({ command, weight, resolve: resolve as (answer: Answer) => void, reject });
    });
  }

  /** Resolves when the writes that wait have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
  }

  async #send(): Promise<void> {
    await this.#options.sleeper.sleep(0); // The rest of this turn joins.
    const turn = this.#waiting;
    this.#waiting = [];
    const batches: Promise<void>[] = [];
    while (turn.length > 0) batches.push(this.#write(turn.splice(0, countThatFit(turn))));
    await Promise.all(batches);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      const { outcomes, fatal } = await this.#options.writer.write({
        commands: batch.map(({ command }) => command),
        weight: sumOf(batch),
      });
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
