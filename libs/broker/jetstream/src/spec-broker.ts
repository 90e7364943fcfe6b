/** What the specs of this folder share: brokers on a real server, below a prefix of their own, in real time. */
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Broker, Consumer, Delivery, PublishOutcome } from '@tidemark/libs-broker-contract';
import type { BrokerCase, BrokerHarness } from '@tidemark/libs-broker-contract/testing';
import type { Clock, Random, Sleeper } from '@tidemark/libs-kernel';
import { type JetStreamBrokerOptions, connectJetStreamBroker } from './connect.ts';

export const TENANT = 'acme';
export const TOPIC = { tenant: TENANT, table: 'clicks' };
export const ACK_WAIT_MS = 1000;

export const realTime: Clock & Sleeper = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => {}),
};

export const chance: Random = {
  bytes: (n) => randomBytes(n),
  fraction: () => Math.random(),
};

export interface Logged {
  readonly message: string;
  readonly fields: object;
}

/** Opens brokers on one server; `end` closes what is open. */
export class SpecBroker implements BrokerHarness {
  readonly prefix = `t${randomBytes(6).toString('hex')}`;
  readonly log: Logged[] = [];
  readonly #servers: string | readonly string[];
  readonly #options: Partial<JetStreamBrokerOptions>;
  readonly #opened: Broker[] = [];
  readonly #beganAtMs = realTime.monotonic();
  #passedMs = 0;

  constructor(servers: string | readonly string[], options: Partial<JetStreamBrokerOptions> = {}) {
    this.#servers = servers;
    this.#options = options;
  }

  async open(options: Partial<JetStreamBrokerOptions> = {}): Promise<Broker> {
    const note = (fields: object, message: string) => void this.log.push({ message, fields });
    const broker = await connectJetStreamBroker({
      ...{ servers: this.#servers, prefix: this.prefix, clock: realTime, sleeper: realTime, random: chance },
      ...{ log: { info: note, warn: note }, reconnectWaitMs: 100, connectTimeoutMs: 20_000 },
      ...{ ...this.#options, ...options },
    });
    this.#opened.push(broker);
    return broker;
  }

  /** A broker with an open queue and its consumer. */
  async start(options: Partial<JetStreamBrokerOptions> = {}, bytesMax = 1n << 30n) {
    const broker = await this.open(options);
    await broker.openQueue(TENANT, bytesMax);
    return { broker, worker: await broker.consume(TENANT, { name: 'worker', ackWaitMs: ACK_WAIT_MS }) };
  }

  async pass(ms: number): Promise<void> {
    this.#passedMs += ms;
    await wait(ms);
  }

  /** How long everything took that was not meant to take time. */
  get lateMs(): number {
    return realTime.monotonic() - this.#beganAtMs - this.#passedMs;
  }

  async end(): Promise<void> {
    await Promise.all(this.#opened.map((broker) => broker.close()));
  }
}

/** Cases compare times with a fifth to spare; what fails when the machine took longer than that proves nothing, and is tried again. */
const LATE_MS = 150;
const TRIES = 5;

export async function conform({ run }: BrokerCase, make: () => SpecBroker): Promise<void> {
  for (let tried = 1; ; tried++) {
    const spec = make();
    try {
      return await run(spec);
    } catch (thrown) {
      if (tried === TRIES || spec.lateMs < LATE_MS) throw thrown;
    } finally {
      await spec.end();
    }
  }
}

export function tell(broker: Broker, text: string, idempotencyKey?: string): Promise<PublishOutcome> {
  return broker.publish(TOPIC, Buffer.from(text), idempotencyKey === undefined ? {} : { idempotencyKey });
}

export function textsOf(deliveries: readonly Delivery[]): string[] {
  return deliveries.map(({ body }) => Buffer.from(body).toString());
}

/** Acks all that can be fetched now; their bodies in queue order. */
export async function drain(worker: Consumer): Promise<string[]> {
  const texts: string[] = [];
  for (;;) {
    const deliveries = await worker.fetch(1000, 0);
    if (deliveries.length === 0) return texts;
    await worker.ack(deliveries);
    texts.push(...textsOf(deliveries));
  }
}
