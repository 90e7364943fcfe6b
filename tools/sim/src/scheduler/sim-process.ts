import type { Clock, Random, Sleeper } from '@tidemark/libs-kernel';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import type { Scheduler, SimEvent } from './scheduler.ts';

/** When the simulated world begins. */
export const EPOCH_MS = 1_790_000_000_000;

/**
 * What a process has of the world: clocks, sleep and chance, and a life that a crash ends. After it no sleep and no answer comes back, so
 * that the code of the process never goes on; a new process begins with empty memory.
 */
export class SimProcess implements Clock, Sleeper {
  readonly name: string;
  readonly random: Random;
  readonly #scheduler: Scheduler;
  readonly #startedMs: number;
  #alive = true;
  #wallOffsetMs = 0;
  /** In a free order time is a process's own: it moves by its sleeps alone, so that equal histories are equal states. */
  #sleptMs = 0;
  #pausedUntilMs = 0;
  /** How much it hears until it dies of it. */
  #hearingsLeft = Infinity;
  #onDeath = () => {};
  /** Of everything that the process was told since it began. Code without other sources is in the same state after the same history. */
  #heard = 0;

  constructor(name: string, scheduler: Scheduler, seed: number) {
    this.name = name;
    this.#scheduler = scheduler;
    this.#startedMs = scheduler.nowMs;
    this.random = new SeededRandom(seed);
  }

  get alive(): boolean {
    return this.#alive;
  }

  crash(): void {
    this.#alive = false;
  }

  /** Dies when it would hear for the n-th time from now: between any two steps of its code. */
  crashAfter(hearings: number, onDeath: () => void): void {
    this.#hearingsLeft = hearings;
    this.#onDeath = onDeath;
  }

  /** Stands still, as a stopped process does; what it would hear meanwhile it hears afterwards, in its order. */
  pause(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#scheduler.nowMs + ms);
  }

  /** Lets it hear something: not when it is dead, and not while it stands still. */
  wake(delayMs: number, label: string, run: () => void): SimEvent {
    const hear = () => {
      if (event.cancelled || !this.#alive) return;
      const leftMs = this.#pausedUntilMs - this.#scheduler.nowMs;
      if (leftMs > 0) this.#scheduler.wake(leftMs, label, hear);
      else if (--this.#hearingsLeft > 0) run();
      else {
        this.#alive = false;
        this.#onDeath();
      }
    };
    const event = this.#scheduler.wake(delayMs, label, hear);
    return event;
  }

  now(): number {
    const sinceMs = this.#scheduler.ordering === 'free' ? this.#sleptMs : this.#scheduler.nowMs;
    return EPOCH_MS + this.#wallOffsetMs + sinceMs;
  }

  monotonic(): number {
    return this.#scheduler.ordering === 'free' ? this.#sleptMs : this.#scheduler.nowMs - this.#startedMs;
  }

  jumpWall(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (!this.#alive) return new Promise(() => {});
    if (signal?.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      // No timer is finer, and what is left of a wait may be too little to move the time at all.
      const event = this.wake(Math.max(1, ms), `${this.name} wakes`, () => {
        signal?.removeEventListener('abort', onAbort);
        this.#sleptMs += ms;
        this.hear(() => `slept ${ms}`);
        resolve();
      });
      const onAbort = () => {
        event.cancelled = true;
        if (this.#alive) resolve();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  hear(what: () => string): void {
    if (this.#scheduler.ordering === 'free') this.#heard = numberOf(`${this.#heard} ${what()}`);
  }

  /** Equal for two moments of equal processes only when they have heard the same. */
  get history(): string {
    return `${this.name}${this.#alive ? '' : ' dead'}:${this.#heard}`;
  }
}

/** Histories as numbers: each is its last event and the number of what went before, so that equal numbers are equal histories. */
const numbers = new Map<string, number>();

function numberOf(history: string): number {
  const number = numbers.get(history) ?? numbers.size + 1;
  numbers.set(history, number);
  return number;
}
