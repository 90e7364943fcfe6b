import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Gateway } from './gateway.ts';
import { CALM, type IngestWeather } from './weather.ts';

export interface Acknowledged {
  readonly id: string;
  readonly atMs: number;
}

export interface ProducerOptions {
  readonly ids: readonly string[];
  readonly gateways: readonly Gateway[];
  readonly weather: IngestWeather;
  /** After so many tries nothing goes wrong any more; Infinity: it may for ever. */
  readonly troubledTries: number;
  readonly triesMax: number;
  readonly beginWithinMs: number;
}

const AGAIN_MS: readonly [number, number] = [500, 2000];

/** A client that sends one batch until every record of it is answered, and obeys what it is told about when to come back. */
export class Producer {
  readonly acknowledged: Acknowledged[] = [];
  inFlight = 0;
  done = false;
  readonly #scheduler: Scheduler;
  readonly #options: ProducerOptions;
  #tries = 0;

  constructor(scheduler: Scheduler, options: ProducerOptions) {
    this.#scheduler = scheduler;
    this.#options = options;
    scheduler.wake(scheduler.between([0, options.beginWithinMs]), 'a client begins', () => void this.#try());
  }

  async #try(): Promise<void> {
    const { ids, gateways, weather, troubledTries, triesMax } = this.#options;
    if (this.#tries++ >= triesMax) return;
    const gateway = gateways[this.#scheduler.choices.pick(gateways.length)] as Gateway;
    const body = Buffer.from(ids.map((id) => `{"event_id":"${id}"}\n`).join(''));
    const answer = await gateway.post(body, this.#tries <= troubledTries ? weather : CALM);
    if (answer?.status === 200) {
      const { failed } = JSON.parse(answer.body) as { failed: number };
      if (failed > 0) throw new Error(`${failed} records failed`);
      const atMs = this.#scheduler.nowMs;
      this.acknowledged.push(...ids.map((id) => ({ id, atMs })));
      this.done = true;
      return;
    }
    if (answer?.body.includes('in flight') === true) this.inFlight++;
    const asked = answer?.headers['Retry-After'];
    const waitMs = asked === undefined ? this.#scheduler.between(AGAIN_MS) : Number(asked) * 1000;
    this.#scheduler.wake(waitMs, 'a client comes again', () => void this.#try());
  }
}
