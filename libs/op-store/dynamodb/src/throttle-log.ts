import type { Clock } from '@tidemark/libs-kernel';
import type { DynamoLog } from './metrics.ts';

/** No more than one line in so long. */
const QUIET_MS = 10_000;

/** Says that rounds are throttled: at the first, and then at most once in 10 s, with how many there were since it last said so. */
export class ThrottleLog {
  readonly #clock: Clock;
  readonly #log: DynamoLog;
  #saidAtMs = -Infinity;
  #rounds = 0;

  constructor(clock: Clock, log: DynamoLog) {
    this.#clock = clock;
    this.#log = log;
  }

  /** A round of that stream was throttled. */
  throttled(stream: string): void {
    this.#rounds++;
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#saidAtMs < QUIET_MS) return;
    this.#log.warn({ stream, rounds: this.#rounds }, 'DynamoDB throttles appends, of this stream among others');
    this.#saidAtMs = nowMs;
    this.#rounds = 0;
  }
}
