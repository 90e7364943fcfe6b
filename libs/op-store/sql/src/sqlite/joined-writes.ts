import { Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { Answer, AnswerTo, Batch, Command, Outcome, Writer } from './command.ts';
import { toFault } from './map-error.ts';
import { type Weight, countThatFit, fitsBeside, sumOf } from './weight.ts';

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
 * bounded by the callers; the writer is sent what it writes and what comes next, since all that it is sent is in memory twice.
 */
export class JoinedWrites {
  /** Rejects when nothing can be written any more. */
  readonly failed: Promise<never>;
  readonly #options: JoinedWritesOptions;
  readonly #fail: (fault: Fault) => void;
  /** The calls of this turn, and those before them that the writer has not been sent. */
  readonly #waiting: Waiting[] = [];
  /** Batches that the writer has not answered. */
  readonly #sent = new Set<Batch>();
  #inTurn = false;
  /** The writer takes nothing more before it has answered something. */
  #isFull = false;
  #allAnswered = true;
  #closed = false;
  #onClosed: (() => void) | undefined;

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
      if (!this.#inTurn) void this.#endTurn();
    });
  }

  /** Resolves when the writes that wait have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#waiting.length + this.#sent.size > 0) await new Promise<void>((resolve) => (this.#onClosed = resolve));
  }

  async #endTurn(): Promise<void> {
    this.#inTurn = true;
    await this.#options.sleeper.sleep(0); // The rest of this turn joins.
    this.#inTurn = false;
    this.#send();
  }

  #send(): void {
    while (this.#waiting.length > 0 && !this.#isFull) {
      const calls = this.#waiting.slice(0, countThatFit(this.#waiting));
      const batch = { commands: calls.map(({ command }) => command), weight: sumOf(calls), first: this.#allAnswered };
      this.#isFull = !fitsBeside(this.#sent, batch);
      if (this.#isFull) return;
      this.#waiting.splice(0, calls.length);
      this.#sent.add(batch);
      this.#allAnswered = false;
      void this.#write(batch, calls);
    }
  }

  async #write(batch: Batch, calls: readonly Waiting[]): Promise<void> {
    try {
      const { outcomes, fatal } = await this.#options.writer.write(batch);
      if (fatal !== null) this.#fail(toFault(fatal));
      calls.forEach((call, at) => settle(call, outcomes[at] as Outcome));
    } catch (failure) {
      for (const { reject } of calls) reject(failure);
    }
    this.#sent.delete(batch);
    this.#isFull = false;
    this.#answered();
  }

  #answered(): void {
    if (!this.#inTurn) this.#send();
    if (this.#waiting.length + this.#sent.size > 0) return;
    this.#allAnswered = true;
    this.#onClosed?.();
  }
}

function settle({ resolve, reject }: Waiting, outcome: Outcome): void {
  if (outcome.kind === 'done') resolve(outcome.answer);
  else reject(toFault(outcome.fault));
}
