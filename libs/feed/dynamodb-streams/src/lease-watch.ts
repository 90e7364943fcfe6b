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
 * For how long leases have not changed, by this worker's own steady clock: no clocks of two machines are ever compared. After a start
 * every lease counts from then on.
 */
export class LeaseWatch {
  #sights = new Map<string, Sight>();

  /** Rows whose reading was finished at that time. */
  see(rows: Iterable<LeaseRow>, readAtMs: number): void {
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
