import type { Clock } from '@tidemark/libs-kernel';
import type { DynamoLog } from './metrics.ts';

/** No more than one line in so long. */
const QUIET_MS = 10_000;

/** Says that something goes wrong: at the first, and then at most once in 10 s, with how often it did since it last said so. */
export class RareWarning {
  readonly #clock: Clock;
  readonly #log: DynamoLog;
  readonly #counted: string;
  readonly #message: string;
  #saidAtMs = -Infinity;
  #times = 0;

  /** `counted`: the field that says how often. */
  constructor(clock: Clock, log: DynamoLog, counted: string, message: string) {
    this.#clock = clock;
    this.#log = log;
    this.#counted = counted;
    this.#message = message;
  }

  /** It did, in that stream. */
  happened(stream: string): void {
    this.#times++;
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#saidAtMs < QUIET_MS) return;
    this.#log.warn({ stream, [this.#counted]: this.#times }, this.#message);
    this.#saidAtMs = nowMs;
    this.#times = 0;
  }
}
