/** What the specs of this folder share: brokers on one file in a temporary folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Broker, Consumer, Delivery, PublishOutcome } from '@tidemark/libs-broker-contract';
import { type BrokerHarness, passManualTime } from '@tidemark/libs-broker-contract/testing';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { type EmbeddedBrokerOptions, connectEmbeddedBroker } from './connect.ts';

export const TENANT = 'acme';
export const TOPIC = { tenant: TENANT, table: 'clicks' };
export const ACK_WAIT_MS = 30_000;
/** To connect, to accept, to read. */
const SOCKET_TURNS = 5;
/** Messages that the publishing process has in flight together. */
export const WINDOW = 16;

/** Opens brokers on one file; `end` closes what is open and removes the folder. */
export class SpecQueue implements BrokerHarness {
  readonly time = new ManualTime();
  readonly folder: string;
  readonly #opened: Broker[] = [];
  #opens = 0;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<SpecQueue> {
    return new SpecQueue(await mkdtemp(join(tmpdir(), 'tidemark-queue-')));
  }

  get file(): string {
    return join(this.folder, 'queue.sqlite');
  }

  async open(options: Partial<EmbeddedBrokerOptions> = {}): Promise<Broker> {
    const { folder, time } = this;
    const random = new SeededRandom(this.#opens++);
    const broker = await connectEmbeddedBroker({ folder, clock: time, sleeper: time, random, ...options });
    this.#opened.push(broker);
    return broker;
  }

  /** A broker with an open queue and its consumer. */
  async start(
    options: Partial<EmbeddedBrokerOptions> = {},
    bytesMax = 1n << 30n,
  ): Promise<{ broker: Broker; worker: Consumer }> {
    const broker = await this.open(options);
    await broker.openQueue(TENANT, bytesMax);
    return { broker, worker: await broker.consume(TENANT, { name: 'worker', ackWaitMs: ACK_WAIT_MS }) };
  }

  /** Sockets are served meanwhile, which takes turns of the event loop and no time. */
  async pass(ms: number): Promise<void> {
    for (let turn = 0; turn < SOCKET_TURNS; turn++) await new Promise(setImmediate);
    await passManualTime(this.time, ms);
  }

  async end(): Promise<void> {
    for (const broker of this.#opened) await broker.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export function tell(broker: Broker, text: string, idempotencyKey?: string): Promise<PublishOutcome> {
  return broker.publish(TOPIC, Buffer.from(text), idempotencyKey === undefined ? {} : { idempotencyKey });
}

export function tellAll(broker: Broker, count: number, text = (n: number) => `${n}`): Promise<PublishOutcome[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => tell(broker, text(n))));
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
