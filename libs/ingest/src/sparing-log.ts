import type { Clock } from '@tidemark/libs-kernel';
import type { IngestLog } from './observe.ts';

const AGAIN_MS = 60_000;
/** More tables than this with something to say at once: what was said before is forgotten. */
const SAID_MAX = 10_000;

interface Said {
  readonly atMs: number;
  leftOut: number;
}

/**
 * A log for what may last: of one message about one table a line a minute is written, and the next one tells how many were left out
 * (`left_out`). The first is written at once.
 */
export class SparingLog implements IngestLog {
  readonly #log: IngestLog;
  readonly #clock: Clock;
  readonly #said = new Map<string, Said>();

  constructor(log: IngestLog, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  info(fields: object, message: string): void {
    this.#say('info', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#say('warn', fields, message);
  }

  error(fields: object, message: string): void {
    this.#say('error', fields, message);
  }

  #say(level: keyof IngestLog, fields: { readonly tenant?: string; readonly table?: string }, message: string): void {
    const about = JSON.stringify([fields.tenant, fields.table, level, message]);
    const nowMs = this.#clock.monotonic();
    const last = this.#said.get(about);
    if (last !== undefined && nowMs - last.atMs < AGAIN_MS) {
      last.leftOut++;
      return;
    }
    if (this.#said.size >= SAID_MAX) this.#said.clear();
    this.#said.set(about, { atMs: nowMs, leftOut: 0 });
    const leftOut = last?.leftOut ?? 0;
    this.#log[level](leftOut === 0 ? fields : { ...fields, left_out: leftOut }, message);
  }
}
