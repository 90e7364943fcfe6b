import { inParallel } from '@tidemark/libs-driver-dynamodb';
import { asFault, type Clock, type Fault } from '@tidemark/libs-kernel';
import type { Hold } from './hold.ts';
import type { LeaseRow } from './lease-row.ts';
import type { LeaseTable } from './lease-table.ts';
import type { LeaseEvent, StreamsLog, StreamsMetrics } from './report.ts';

export interface LeasesParts {
  readonly table: LeaseTable;
  readonly clock: Clock;
  readonly log: StreamsLog;
  readonly metrics: StreamsMetrics;
  readonly me: string;
  readonly leaseMs: number;
  /** Called for each hold that is over, whatever ended it. */
  readonly over: (hold: Hold, isEnded: boolean) => void;
}

export interface Taking {
  /** The row as it was seen; null: there is none yet. */
  readonly seen: LeaseRow | null;
  /** What its new owner begins with. */
  readonly next: LeaseRow;
  readonly event: 'taken' | 'taken_over' | 'stolen';
  readonly make: (row: LeaseRow, confirmedAtMs: number) => Hold;
}

const WRITES_MAX = 16;

/**
 * The leases that this worker holds.
 *
 *     take ─▶ held ─ renewed every leaseMs / 3 ─▶ ... ─▶ released (its end, or close)
 *               │
 *               ├─ not confirmed for leaseMs: nothing is read under it until a write succeeds
 *               └─ a write finds another owner or epoch: lost
 *
 * Another worker takes it only after it saw the row unchanged for leaseMs, so by then this one has stopped reading (FLD-5).
 */
export class Leases {
  readonly held = new Map<string, Hold>();
  readonly #parts: LeasesParts;

  constructor(parts: LeasesParts) {
    this.#parts = parts;
  }

  /** Whether something may be read under it now. */
  isConfirmed({ confirmedAtMs }: Hold): boolean {
    return this.#parts.clock.monotonic() - confirmedAtMs < this.#parts.leaseMs;
  }

  /** Nothing is held when somebody was quicker. */
  async take({ seen, next, event, make }: Taking): Promise<void> {
    const { table, clock, me, metrics } = this.#parts;
    const sentAtMs = clock.monotonic();
    const counters = { counter: next.counter + 1, epoch: next.epoch + 1, switches: next.switches + 1 };
    const row = { ...next, ...counters, owner: me };
    if (!(await table.swap(seen, row))) return;
    const hold = make(row, sentAtMs);
    this.held.set(row.key, hold);
    this.#report(event, hold);
    metrics.held(this.#count(false), this.#count(true));
  }

  /** Writes those that were not written lately. Rejects with the first fault after all were tried; a lost lease is none. */
  async renew(): Promise<void> {
    let fault: Fault | null = null;
    const nowMs = this.#parts.clock.monotonic();
    const due = [...this.held.values()].filter(
      (hold) => hold.isUnstored || nowMs - hold.confirmedAtMs >= this.#parts.leaseMs / 6,
    );
    await inParallel(due, WRITES_MAX, async (hold) => {
      await this.store(hold).catch((thrown: unknown) => (fault ??= asFault(thrown)));
    });
    if (fault !== null) throw fault;
  }

  /** Stores the checkpoint that is safe, which renews the lease; one that is at its end is given back. Faults: those of the table. */
  store(hold: Hold): Promise<void> {
    return hold.write(async () => {
      if (hold.isOver) return;
      if (hold.isEnded) return this.#release(hold, this.#parts.table);
      const { table, clock } = this.#parts;
      const sentAtMs = clock.monotonic();
      const { row, safe } = hold;
      const switches = safe === row.checkpoint ? row.switches : 0;
      const { readAtMs } = hold;
      const stored = await table.keep({ ...row, counter: row.counter + 1, checkpoint: safe, switches, readAtMs });
      if (stored === null) return this.#drop(hold, 'lost');
      if (stored.checkpoint !== row.checkpoint) hold.checkpointedAtMs = sentAtMs;
      hold.row = stored;
      hold.confirmedAtMs = sentAtMs;
    });
  }

  /** Gives all back, each with its last safe checkpoint, for others to take at once. What cannot be written expires by itself. */
  async releaseAll(table: LeaseTable): Promise<void> {
    await inParallel([...this.held.values()], WRITES_MAX, async (hold) => {
      // Nothing is read under it from here on.
      hold.isBlocked = true;
      await hold
        .write(async () => {
          if (!hold.isOver) await this.#release(hold, table);
        })
        .catch((thrown: unknown) => this.#drop(hold, 'lost', asFault(thrown).message));
    });
  }

  async #release(hold: Hold, table: LeaseTable): Promise<void> {
    const { row, safe } = hold;
    const switches = safe === row.checkpoint ? row.switches : 0;
    const isStored = await table.release({ ...row, checkpoint: safe, switches, readAtMs: hold.readAtMs });
    this.#drop(hold, isStored ? 'released' : 'lost');
  }

  #drop(hold: Hold, event: LeaseEvent, reason?: string): void {
    hold.stop.abort();
    this.held.delete(hold.row.key);
    this.#report(event, hold, reason);
    this.#parts.metrics.held(this.#count(false), this.#count(true));
    this.#parts.over(hold, event === 'released' && hold.isEnded);
  }

  #report(event: LeaseEvent, { row }: Hold, reason?: string): void {
    const { log, metrics } = this.#parts;
    metrics.lease(event);
    const fields = { lease: row.key, event, epoch: row.epoch, checkpoint: row.checkpoint, switches: row.switches };
    if (event === 'lost') log.warn({ ...fields, reason }, 'a lease is lost');
    else log.info(fields, 'a lease changed hands');
  }

  #count(isSegment: boolean): number {
    return [...this.held.values()].filter((hold) => hold.isSegment === isSegment).length;
  }
}
