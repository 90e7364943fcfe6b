import type { LeaseRow } from './lease-row.ts';

interface Sight {
  readonly counter: number;
  readonly epoch: number;
  /** When this counter was first seen. */
  readonly sinceMs: number;
  /** When this owner was first seen. */
  readonly epochSinceMs: number;
}

/**
 * For how long leases have not changed, by this worker's own steady clock: no clocks of two machines are ever compared. After a start, and after
 * a time in which the rows could not be read (nor, it may be, be written by their owners), every lease counts from then on.
 */
export class LeaseWatch {
  readonly #gapMsMax: number;
  #sights = new Map<string, Sight>();
  #readAtMs = -Infinity;

  /** `gapMsMax`: between two readings that count as one watch. */
  constructor(gapMsMax: number) {
    this.#gapMsMax = gapMsMax;
  }

  /** Rows whose reading was finished at that time. */
  see(rows: Iterable<LeaseRow>, readAtMs: number): void {
    if (readAtMs - this.#readAtMs > this.#gapMsMax) this.#sights.clear();
    this.#readAtMs = readAtMs;
    const sights = new Map<string, Sight>();
    for (const { key, counter, epoch } of rows) {
      const before = this.#sights.get(key);
      const sameEpoch = before?.epoch === epoch;
      const sinceMs = sameEpoch && before.counter === counter ? before.sinceMs : readAtMs;
      sights.set(key, { counter, epoch, sinceMs, epochSinceMs: sameEpoch ? before.epochSinceMs : readAtMs });
    }
    this.#sights = sights;
  }

  /** For how long the row was seen as it is, at that time. */
  unchangedMs(key: string, nowMs: number): number {
    return nowMs - (this.#sights.get(key)?.sinceMs ?? nowMs);
  }

  /** For how long it was seen with the same owner. */
  sameOwnerMs(key: string, nowMs: number): number {
    return nowMs - (this.#sights.get(key)?.epochSinceMs ?? nowMs);
  }
}
