import type { Database } from 'better-sqlite3';
import type { Clock } from '@tidemark/libs-kernel';

/** Smaller steps back are let pass: a wait is then longer by so much. It also bounds how often the clock is written. */
const STEP_MS = 1000;

interface ClockRow {
  readonly ahead_ms: bigint;
  readonly latest_ms: bigint;
}

/**
 * Time of the queue: the wall clock, which is all that several processes share, made to never go back. When the wall clock is set back,
 * the difference is added from then on; else ack waits, windows and leases would last longer by the jump. A jump forward ends them early.
 */
export class QueueClock {
  readonly #clock: Clock;
  readonly #read;
  readonly #write;

  constructor(db: Database, clock: Clock) {
    this.#clock = clock;
    this.#read = db.prepare<[], ClockRow>('SELECT ahead_ms, latest_ms FROM clock').safeIntegers();
    this.#write = db.prepare('UPDATE clock SET ahead_ms = ?, latest_ms = ?');
  }

  /** The time, for a look. `wentBack`: it stands still until somebody writes. */
  look(): { readonly nowMs: number; readonly wentBack: boolean } {
    const { nowMs, latestMs } = this.#times();
    return { nowMs: Math.max(nowMs, latestMs), wentBack: latestMs - nowMs > STEP_MS };
  }

  /** The time of a write transaction, called inside it. */
  tick(): number {
    const { nowMs, latestMs, aheadMs } = this.#times();
    if (latestMs - nowMs > STEP_MS) this.#write.run(aheadMs + latestMs - nowMs, latestMs);
    else if (nowMs - latestMs > STEP_MS) this.#write.run(aheadMs, nowMs);
    return Math.max(nowMs, latestMs);
  }

  #times(): { readonly nowMs: number; readonly latestMs: number; readonly aheadMs: number } {
    const { ahead_ms, latest_ms } = this.#read.get()!;
    const aheadMs = Number(ahead_ms);
    return { nowMs: Math.floor(this.#clock.now()) + aheadMs, latestMs: Number(latest_ms), aheadMs };
  }
}
