import {
  type Broker,
  type Consumer,
  type ConsumerOptions,
  type DeadLetter,
  type Lease,
  type NotificationWatch,
  type PublishOptions,
  type PublishOutcome,
  type QueueStats,
  type Topic,
  checkPublish,
  checkTenant,
  checkWellFormed,
} from '@tidemark/libs-broker-contract';
import { Fault } from '@tidemark/libs-kernel';
import type { JetStreamManager } from 'nats';
import { Durable } from './durables.ts';
import { type ConsumerParts, JetStreamConsumer } from './jetstream-consumer.ts';
import type { Leases } from './leases.ts';
import type { Notifications } from './notifications.ts';
import type { Publish } from './publish.ts';
import type { Queue, Queues } from './queues.ts';
import type { BrokerLog } from './link.ts';
import type { Rooms } from './rooms.ts';

export interface BrokerParts extends ConsumerParts {
  readonly manager: JetStreamManager;
  readonly queues: Queues;
  readonly rooms: Rooms;
  readonly publish: Publish;
  readonly leases: Leases;
  readonly notifications: Notifications;
  readonly managed: boolean;
  readonly log: BrokerLog;
}

/** The queues of one server or cluster, below one prefix. */
export class JetStreamBroker implements Broker {
  readonly duplicateWindowMs: number;
  readonly bodyBytesMax: number;
  readonly #parts: BrokerParts;
  readonly #consumers = new Set<JetStreamConsumer>();
  readonly #writing = new Set<Promise<unknown>>();
  #closed = false;

  constructor(
    parts: BrokerParts,
    { duplicateWindowMs, bodyBytesMax }: Pick<Broker, 'duplicateWindowMs' | 'bodyBytesMax'>,
  ) {
    this.#parts = parts;
    this.duplicateWindowMs = duplicateWindowMs;
    this.bodyBytesMax = bodyBytesMax;
  }

  async openQueue(tenant: string, bytesMax: bigint): Promise<void> {
    this.#checkOpen();
    checkTenant(tenant);
    if (bytesMax < 0n) throw new Fault('invalid', `a budget of ${bytesMax} bytes`);
    await this.#write(this.#parts.queues.open(tenant, bytesMax));
    this.#parts.rooms.forget(tenant);
  }

  async queues(): Promise<readonly string[]> {
    this.#checkOpen();
    return this.#parts.queues.list();
  }

  async publish(topic: Topic, body: Uint8Array, options: PublishOptions = {}): Promise<PublishOutcome> {
    checkPublish(topic, options);
    if (this.#closed) return { kind: 'unavailable', detail: 'the broker is closed' };
    return this.#write(this.#parts.publish.run(topic, body, options));
  }

  async consume(tenant: string, options: ConsumerOptions): Promise<Consumer> {
    this.#checkOpen();
    checkTenant(tenant);
    checkWellFormed(options.name, 'consumer name');
    const durable = await Durable.open(tenant, options, this.#parts);
    const consumer = new JetStreamConsumer(durable, this.#parts, (closed) => this.#consumers.delete(closed));
    this.#consumers.add(consumer);
    return consumer;
  }

  async stats(tenant: string): Promise<QueueStats> {
    this.#checkOpen();
    const { queues, deadLetters, trimmer } = this.#parts;
    const queue = await queues.get(tenant);
    const [unsettled, parked] = await Promise.all([
      trimmer.unsettled(tenant, queue.info.state),
      deadLetters.count(tenant),
    ]);
    return { ...held(queue, unsettled), deadLetters: parked };
  }

  async deadLetters(tenant: string, after: bigint, limit: number): Promise<readonly DeadLetter[]> {
    this.#checkOpen();
    return this.#parts.deadLetters.list(tenant, after, limit);
  }

  async removeDeadLetter(tenant: string, id: bigint): Promise<boolean> {
    this.#checkOpen();
    return this.#write(this.#parts.deadLetters.remove(tenant, id));
  }

  async acquireLease(name: string, owner: string, ttlMs: number): Promise<Lease | null> {
    this.#checkOpen();
    checkWellFormed(name, 'lease name');
    return this.#parts.leases.acquire(name, owner, Math.ceil(ttlMs));
  }

  notify(topic: string, detail: string): void {
    if (!this.#closed) this.#parts.notifications.notify(topic, detail);
  }

  async onNotify(topic: string, listener: (detail: string) => void): Promise<NotificationWatch> {
    this.#checkOpen();
    return this.#parts.notifications.onNotify(topic, listener);
  }

  async ping(): Promise<void> {
    this.#checkOpen();
    const { queues, manager } = this.#parts;
    await queues.call(() => manager.getAccountInfo());
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { link, trimmer } = this.#parts;
    await Promise.allSettled(this.#writing);
    for (const consumer of this.#consumers) await consumer.close();
    await trimmer.close();
    await link.close();
  }

  async #write<T>(write: Promise<T>): Promise<T> {
    this.#writing.add(write);
    try {
      return await write;
    } finally {
      this.#writing.delete(write);
    }
  }

  #checkOpen(): void {
    if (this.#closed) throw new Fault('unavailable', 'the broker is closed');
  }
}

/** Acked messages that are kept for their ids give way when room is needed: they do not count. What the others take is their share. */
function held({ info }: Queue, unsettled: bigint | undefined): Omit<QueueStats, 'deadLetters'> {
  const stored = BigInt(info.state.messages);
  const messages = unsettled === undefined || unsettled > stored ? stored : unsettled;
  const bytes = stored === 0n ? 0n : (BigInt(info.state.bytes) * messages) / stored;
  return { messages, bytes, bytesMax: BigInt(info.config.max_bytes) };
}
