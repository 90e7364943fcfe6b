import type { Broker } from '@tidemark/libs-broker-contract';
import { type BackoffShape, type Random, type Sleeper, asFault, backoffMs } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { APPENDED_TOPIC } from '@tidemark/libs-wire';
import type { Seats } from './tail-seats.ts';

export interface TailHintsOptions {
  readonly opStore: Pick<OpStore, 'watch'>;
  /** null: none is configured. */
  readonly broker: Pick<Broker, 'notify' | 'onNotify'> | null;
  readonly seats: Seats;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log: { warn(fields: object, message: string): void };
}

const RETRY: BackoffShape = { baseMs: 500, ceilingMs: 30_000 };

/** Hears of the appends of other processes: from the store where it tells, else from the broker. */
export class TailHints {
  readonly #options: TailHintsOptions;
  #source: 'none' | 'store' | 'broker' = 'none';

  constructor(options: TailHintsOptions) {
    this.#options = options;
  }

  /** Whether appends of others are heard of, so that there is less to look for. */
  get heard(): boolean {
    return this.#source !== 'none';
  }

  /** Tells other processes, unless the store does. */
  tell(stream: string): void {
    if (this.#source !== 'store') this.#options.broker?.notify(APPENDED_TOPIC, stream);
  }

  /** Listens until `signal` aborts. What cannot be listened to now is tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { sleeper, random, log } = this.#options;
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        const watch = await this.#listen();
        await new Promise<void>((resolve) => {
          if (signal.aborted) return resolve();
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        this.#source = 'none';
        return await watch?.close();
      } catch (thrown) {
        if (attempt === 0) log.warn({ error: asFault(thrown).message }, 'cannot hear of appends; polling instead');
        await sleeper.sleep(backoffMs(attempt, RETRY, random), signal);
      }
    }
  }

  async #listen(): Promise<{ close(): Promise<void> } | null> {
    const { opStore, broker, seats } = this.#options;
    const ofStore = await opStore.watch((stream) => seats.wake(stream, 'store'));
    if (ofStore !== null) {
      this.#source = 'store';
      return ofStore;
    }
    if (broker === null) return null;
    const ofBroker = await broker.onNotify(APPENDED_TOPIC, (stream) => seats.wake(stream, 'broker'));
    this.#source = 'broker';
    return ofBroker;
  }
}
