import { asFault, type BackoffShape, backoffMs, type Clock, type Random } from '@tidemark/libs-kernel';
import type { FoldLog } from './report.ts';

export interface ChoresOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: FoldLog;
}

/** Milliseconds until the next part of the work; null: it is done. */
export type Chore = (signal?: AbortSignal) => Promise<number | null>;

interface Pending {
  readonly name: string;
  readonly work: Chore;
  dueAtMs: number;
  failures: number;
}

/** With so many the next is not taken: whoever gave it finds it again later. */
const CHORES_MAX = 10_000;
const RETRY: BackoffShape = { baseMs: 500, ceilingMs: 30_000 };

/** Work beside the folding that no doorbell rings for, part by part: one part at a time, in turn, so that it never takes more than its share. */
export class Chores {
  readonly #options: ChoresOptions;
  readonly #pending = new Map<string, Pending>();

  constructor(options: ChoresOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Nothing happens when a chore of that name is pending. */
  add(name: string, work: Chore): void {
    if (this.#pending.size >= CHORES_MAX || this.#pending.has(name)) return;
    this.#pending.set(name, { name, work, dueAtMs: this.#options.clock.monotonic(), failures: 0 });
  }

  nextDueMs(nowMs: number): number {
    let nextMs = Infinity;
    for (const { dueAtMs } of this.#pending.values()) nextMs = Math.min(nextMs, Math.max(0, dueAtMs - nowMs));
    return nextMs;
  }

  /** One part of the chore that waits longest, if one is due. A fault is told, and the part is done again later. */
  async tick(signal?: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options;
    const nowMs = clock.monotonic();
    const chore = [...this.#pending.values()].find(({ dueAtMs }) => dueAtMs <= nowMs);
    if (!chore || signal?.aborted) return;
    this.#pending.delete(chore.name);
    try {
      const nextMs = await chore.work(signal);
      chore.failures = 0;
      if (nextMs === null) return;
      chore.dueAtMs = clock.monotonic() + nextMs;
    } catch (thrown) {
      log.warn({ chore: chore.name, reason: asFault(thrown).message }, 'background work failed, and is tried again');
      chore.dueAtMs = clock.monotonic() + backoffMs(++chore.failures, RETRY, random);
    }
    this.#pending.set(chore.name, chore);
  }
}
