import type { Clock } from '@tidemark/libs-kernel';
import { type Control, controlOf, controlRow, dueSegments, hasBegun, staleSegments } from './control.ts';
import { CONTROL_KEY, type LeaseRow } from './lease-row.ts';
import type { LeaseTable } from './lease-table.ts';
import type { StreamsLog } from './report.ts';

export interface CensusesParts {
  readonly table: LeaseTable;
  readonly clock: Clock;
  readonly log: StreamsLog;
  readonly censusMs: number;
  readonly segments: number;
}

type Rows = Map<string, LeaseRow>;

/** Decides when the streams of the table are named anew: at the start of a fold or a stream, after a loss, and every censusMs. */
export class Censuses {
  readonly #parts: CensusesParts;

  constructor(parts: CensusesParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when it is stored that a census is wanted which begins later than this call. One that is wanted and has not begun will do; one that
   * is being taken is finished first.
   */
  async want(reason: string): Promise<void> {
    const { table } = this.#parts;
    for (;;) {
      const rows = await table.rows();
      const control = controlOf(rows.get(CONTROL_KEY));
      // A fold that has not come to its stream yet begins with a census.
      if (control === null || !hasBegun(control, rows)) return;
      if (await this.#next(rows, control, {}, reason)) return;
    }
  }

  /** The fold follows that stream from here on. False: another worker has written the control meanwhile. */
  begin(rows: Rows, opsTable: string, label: string): Promise<boolean> {
    const control = controlOf(rows.get(CONTROL_KEY));
    const reason = control === null ? 'the fold is new' : 'the stream is new';
    const first = { opsTable, label, census: 0, segments: 0, atMs: 0, listedAtMs: 0, reason };
    return this.#next(rows, control ?? first, { label, listedAtMs: this.#parts.clock.now() }, reason);
  }

  /** The next regular census, when the last one is at its end and old enough; and no rows that no census has. */
  async look(rows: Rows, control: Control): Promise<void> {
    const { table, clock, censusMs } = this.#parts;
    for (const row of staleSegments(control, rows)) {
      await table.remove(row);
      rows.delete(row.key);
    }
    // A wall clock that jumped back asks for one too many.
    const isOld = censusMs > 0 && Math.abs(clock.now() - control.atMs) >= censusMs;
    if (isOld && dueSegments(control, rows).length === 0) await this.#next(rows, control, {}, 'it is time');
  }

  async #next(rows: Rows, before: Control, change: Partial<Control>, reason: string): Promise<boolean> {
    const { table, clock, log, segments } = this.#parts;
    const seen = rows.get(CONTROL_KEY);
    const control = { ...before, ...change, census: before.census + 1, segments, atMs: clock.now(), reason };
    const row = controlRow(seen, control);
    if (!(await table.swap(seen ?? null, row))) return false;
    rows.set(CONTROL_KEY, row);
    log.info({ census: control.census, segments, reason }, 'a census of the ops table is wanted');
    return true;
  }
}
