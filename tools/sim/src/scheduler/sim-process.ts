import type { Clock, Random, Sleeper } from '@tidemark/libs-kernel';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import type { Scheduler } from './scheduler.ts';

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

  now(): number {
    return EPOCH_MS + this.#wallOffsetMs + this.monotonic();
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
      const event = this.#scheduler.wake(ms, `${this.name} wakes`, () => {
        if (!this.#alive) return;
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
