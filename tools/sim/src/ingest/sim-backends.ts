import type { Broker, PublishOptions, PublishOutcome, Topic } from '@tidemark/libs-broker-contract';
import { MemoryBroker } from '@tidemark/libs-broker-contract/testing';
import type { Claim, Deduplicator, DedupeKey } from '@tidemark/libs-dedupe-contract';
import { MemoryDedupeStore, MemoryDeduplicator } from '@tidemark/libs-dedupe-contract/testing';
import { Fault } from '@tidemark/libs-kernel';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { SimProcess } from '../scheduler/sim-process.ts';
import type { Gateway } from './gateway.ts';
import type { IngestAnomalies, IngestWeather } from './weather.ts';

/** One copy of an event in the queue. */
export interface StoredCopy {
  readonly key: string;
  readonly atMs: number;
}

const LATENCY_MS: readonly [number, number] = [1, 40];
const TIMEOUT_MS = 5000;

type Loss = 'none' | 'call' | 'answer' | 'late';

/** The dedupe store and the broker of a run, which gateways reach over a network that loses calls and answers. */
export class SimBackends {
  readonly copies: StoredCopy[] = [];
  readonly anomalies: IngestAnomalies;
  readonly #scheduler: Scheduler;
  readonly #dedupe: MemoryDeduplicator;
  readonly #broker: MemoryBroker;
  readonly #lapsed: () => number;

  constructor(scheduler: Scheduler, anomalies: IngestAnomalies) {
    const server = new SimProcess('servers', scheduler, 1);
    const store = new LapsingStore(server);
    this.#scheduler = scheduler;
    this.anomalies = anomalies;
    this.#dedupe = new MemoryDeduplicator(store);
    this.#broker = new MemoryBroker({ clock: server, sleeper: server });
    this.#lapsed = () => store.lapsed;
  }

  open(tenant: string): Promise<void> {
    return this.#broker.openQueue(tenant, 1n << 40n);
  }

  get bodyBytesMax(): number {
    return this.#broker.bodyBytesMax;
  }

  get duplicateWindowMs(): number {
    return this.#broker.duplicateWindowMs;
  }

  /** The dedupe store as one gateway reaches it. */
  dedupeOf(gateway: Gateway): Pick<Deduplicator, 'reserve' | 'commit' | 'release'> {
    const ask = <T>(label: string, work: () => Promise<T>) =>
      this.#ask(gateway, label, this.#lossOf(gateway.weather), work, (): T => {
        throw new Fault('unavailable', `${label}: no answer`, { outcome: 'unknown' });
      });
    return {
      reserve: (keys: readonly DedupeKey[], leaseMs: number) => {
        if (this.#happens('throttled', gateway.weather.throttled)) throw new Fault('unavailable', 'throttled');
        return ask('reserve', async () => {
          const claims = await this.#dedupe.reserve(keys, leaseMs);
          this.anomalies.lapse = this.#lapsed();
          return claims;
        });
      },
      commit: (claims: readonly Claim[], retentionMs: number) =>
        ask('commit', () => this.#dedupe.commit(claims, retentionMs)),
      release: (claims: readonly Claim[]) => ask('release', () => this.#dedupe.release(claims)),
    };
  }

  /** The broker as one gateway reaches it; its publishes arrive in their order. */
  brokerOf(gateway: Gateway): Pick<Broker, 'publish' | 'bodyBytesMax'> {
    let lastArrivalMs = 0;
    return {
      bodyBytesMax: this.bodyBytesMax,
      publish: (topic: Topic, body: Uint8Array, options: PublishOptions = {}) => {
        const { nowMs } = this.#scheduler;
        const delayMs = Math.max(lastArrivalMs - nowMs, this.#scheduler.between(LATENCY_MS));
        lastArrivalMs = nowMs + delayMs;
        const loss = this.#lossOf(gateway.weather, gateway.weather.late);
        const store = () => this.#store(topic, body, options);
        if (loss === 'late') {
          const lateMs = this.#scheduler.between(gateway.weather.lateMs);
          this.#scheduler.wake(lateMs, 'a late publish arrives', () => void store());
        }
        const silent = (): PublishOutcome => ({ kind: 'unavailable', detail: 'no answer' });
        return this.#ask(gateway, 'publish', loss, store, silent, delayMs);
      },
    };
  }

  async #store(topic: Topic, body: Uint8Array, options: PublishOptions): Promise<PublishOutcome> {
    const outcome = await this.#broker.publish(topic, body, options);
    const key = idIn(body);
    if (outcome.kind === 'stored') this.copies.push({ key, atMs: this.#scheduler.nowMs });
    if (outcome.kind === 'duplicate') this.anomalies.repeat++;
    return outcome;
  }

  /** A call over the network: done when it arrives, answered when the answer does; `silent` is what the caller concludes from no answer. */
  #ask<T>(
    gateway: Gateway,
    label: string,
    loss: Loss,
    work: () => Promise<T>,
    silent: () => T,
    delayMs = this.#scheduler.between(LATENCY_MS),
  ): Promise<T> {
    const { process } = gateway;
    return new Promise((resolve, reject) => {
      const answer = (afterMs: number, told: () => T) =>
        gateway.wake(afterMs, `${process.name} hears of its ${label}`, () => {
          try {
            resolve(told());
          } catch (thrown) {
            reject(thrown);
          }
        });
      if (loss !== 'none') answer(TIMEOUT_MS, silent);
      if (loss === 'call' || loss === 'late') return;
      this.#scheduler.wake(delayMs, `${process.name}: ${label}`, () => {
        work().then(
          (result) => loss === 'none' && answer(this.#scheduler.between(LATENCY_MS), () => result),
          (thrown: unknown) => loss === 'none' && reject(thrown),
        );
      });
    });
  }

  #lossOf({ lostCall, lostAnswer }: IngestWeather, late = 0): Loss {
    if (this.#happens('lostCall', lostCall)) return 'call';
    if (this.#happens('lostAnswer', lostAnswer)) return 'answer';
    return this.#happens('late', late) ? 'late' : 'none';
  }

  #happens(anomaly: 'lostCall' | 'lostAnswer' | 'late' | 'throttled', share: number): boolean {
    const happens = this.#scheduler.chance(share);
    if (happens) this.anomalies[anomaly]++;
    return happens;
  }
}

/** Counts the claims that it hands on because their holder let them lapse. */
class LapsingStore extends MemoryDedupeStore {
  lapsed = 0;

  constructor(server: SimProcess) {
    super({ clock: server, random: server.random });
  }

  override hold(stored: string, leaseMs: number): string {
    if (this.pending.has(stored)) this.lapsed++;
    return super.hold(stored, leaseMs);
  }
}

function idIn(body: Uint8Array): string {
  return (JSON.parse(Buffer.from(body).toString()) as { id: string }).id;
}
