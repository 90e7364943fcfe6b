import type { Choices } from './choices.ts';
import { EventBag, EventQueue } from './event-queue.ts';
import { Trace } from './trace.ts';

/** Something that will happen. */
export interface SimEvent {
  readonly atMs: number;
  readonly order: number;
  readonly label: string;
  /** Whether code of an actor goes on afterwards. */
  readonly wakes: boolean;
  readonly run: () => void;
  cancelled: boolean;
}

/**
 * `timed`: events happen at their virtual times, which chance spreads. `free`: any pending event may be the next, whatever its time, so
 * that an explorer can try every order; delays are nothing then.
 */
export type Ordering = 'timed' | 'free';

/** Virtual time, and everything that is about to happen in it. One event at a time; code that an event wakes runs until it waits again. */
export class Scheduler {
  readonly choices: Choices;
  readonly ordering: Ordering;
  readonly trace: Trace;
  /** Events that have happened. */
  steps = 0;
  #nowMs = 0;
  #order = 0;
  readonly #timed = new EventQueue();
  readonly #free = new EventBag();
  #inOrder = false;

  constructor(choices: Choices, ordering: Ordering, trace: Trace = new Trace()) {
    this.choices = choices;
    this.ordering = ordering;
    this.trace = trace;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Something that wakes an actor: an answer, the end of a sleep. */
  wake(delayMs: number, label: string, run: () => void): SimEvent {
    return this.#add(delayMs, label, true, run);
  }

  /** Something inside the database or the network that no actor notices by itself. */
  happen(delayMs: number, label: string, run: () => void): SimEvent {
    return this.#add(delayMs, label, false, run);
  }

  /** A delay between two bounds, spread by chance. */
  between([fromMs, toMs]: readonly [number, number]): number {
    return fromMs + this.choices.fraction() * (toMs - fromMs);
  }

  /** True with this probability. An order that is free is not left to probability: it has its own choices. */
  chance(probability: number): boolean {
    return probability > 0 && this.choices.fraction() < probability;
  }

  /** In a free order: the labels of what may happen next, oldest first. */
  pending(): string[] {
    return this.#free.live().map(({ label }) => label);
  }

  /** Lets one event happen, and everything that it wakes. False when nothing is pending. */
  async step(): Promise<boolean> {
    const event = this.ordering === 'timed' ? this.#timed.takeFirst() : this.#takeAny();
    if (event === undefined) return false;
    this.#nowMs = Math.max(this.#nowMs, event.atMs);
    this.steps++;
    // An explorer tells a schedule by its path, and shows one alone.
    if (this.ordering === 'timed' || this.trace.keeps) this.trace.add(this.#nowMs, event.label);
    event.run();
    if (event.wakes) await quiet();
    return true;
  }

  /** Runs until nothing is pending, `until` says so, or the bound is reached. */
  async run(until: () => boolean = () => false, stepsMax = Infinity): Promise<void> {
    await quiet();
    while (!until() && this.steps < stepsMax && (await this.step()));
  }

  /** Does the work with every event in the order in which it was made, so that an explorer has nothing to choose. */
  async inOrder<T>(work: () => Promise<T>): Promise<T> {
    this.#inOrder = true;
    const ended: { value?: T } = {};
    void work().then((value) => Object.assign(ended, { value }));
    await this.run(() => 'value' in ended);
    this.#inOrder = false;
    return ended.value as T;
  }

  #takeAny(): SimEvent | undefined {
    const { length } = this.#free.live();
    return length === 0 ? undefined : this.#free.take(this.#inOrder ? 0 : this.choices.pick(length));
  }

  #add(delayMs: number, label: string, wakes: boolean, run: () => void): SimEvent {
    const event = { atMs: this.#nowMs + delayMs, order: this.#order++, label, wakes, run, cancelled: false };
    if (this.ordering === 'timed') this.#timed.add(event);
    else this.#free.add(event);
    return event;
  }
}

/** Until every promise that can go on has gone on: the queue of microtasks is empty then. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
