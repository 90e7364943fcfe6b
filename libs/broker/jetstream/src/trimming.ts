import { AckedRuns } from './acked-runs.ts';
import { greatest } from './floors.ts';

/** What may be removed of the acked. */
export type Which = 'aged' | 'all';

/** What this process knows of one tenant's acks. */
export class Trimming {
  readonly #byDurable = new Map<string, AckedRuns>();
  running: Promise<boolean> | undefined;
  which: Which = 'aged';
  agedTrimAtMs = -Infinity;
  /** Newest time that the server gave a message. */
  nowMs = -Infinity;
  foundFullAtMs = -Infinity;
  acks = 0;
  #queue = '';

  /** What was acked of an earlier incarnation is forgotten. */
  now(queue: string): void {
    if (queue !== this.#queue) this.#byDurable.clear();
    this.#queue = queue;
  }

  runsOf(durable: string): AckedRuns {
    const known = this.#byDurable.get(durable) ?? new AckedRuns();
    this.#byDurable.set(durable, known);
    return known;
  }

  lastStoredBefore(ms: number): bigint {
    return [...this.#byDurable.values()].reduce((last, runs) => greatest(last, runs.lastStoredBefore(ms)), 0n);
  }

  dropUpTo(seq: bigint): void {
    for (const runs of this.#byDurable.values()) runs.dropUpTo(seq);
  }
}
