import {
  type Broker,
  type Consumer,
  type ConsumerOptions,
  type DeadLetter,
  type Lease,
  type NotificationWatch,
  type PublishOptions,
  type PublishOutcome,
  type QueueFinding,
  type QueueStats,
  type Topic,
  checkPublish,
  checkTenant,
  checkWellFormed,
} from '@tidemark/libs-broker-contract';
import { type Clock, Fault } from '@tidemark/libs-kernel';
import type { JetStreamManager } from 'nats';
import { Durable } from './durables.ts';
import { type ConsumerParts, JetStreamConsumer } from './jetstream-consumer.ts';
import type { Leases } from './leases.ts';
import type { Notifications } from './notifications.ts';
import type { Publish } from './publish.ts';
import type { Queue, Queues } from './queues.ts';
import type { BrokerLog } from './link.ts';
import type { Rooms } from './rooms.ts';
import type { Unsettled } from './trimmer.ts';

export interface BrokerParts extends ConsumerParts {
  readonly manager: JetStreamManager;
  readonly queues: Queues;
  readonly rooms: Rooms;
  readonly publish: Publish;
  readonly leases: Leases;
  readonly notifications: Notifications;
  readonly managed: boolean;
  readonly log: BrokerLog;
  readonly clock: Clock;
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

  async verifyQueues(): Promise<readonly QueueFinding[]> {
    this.#checkOpen();
    return this.#write(this.#parts.queues.verify());
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
    const { queues, deadLetters, trimmer, clock } = this.#parts;
    const queue = await queues.get(tenant);
    const [unsettled, parked] = await Promise.all([
      trimmer.unsettled(tenant, queue.info.state),
      deadLetters.count(tenant),
    ]);
    const oldestAtMs = unsettled.messages === 0 ? undefined : await queues.storedAtMs(queue, unsettled.from);
    const nowMs = clock.now();
    const oldestAgeMs = Math.max(0, nowMs - (oldestAtMs ?? nowMs));
    return { ...held(queue, unsettled), deadLetters: parked, oldestAgeMs };
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
function held({ info: { state, config } }: Queue, { messages }: Unsettled) {
  const bytes = state.messages === 0 ? 0n : (BigInt(state.bytes) * BigInt(messages)) / BigInt(state.messages);
  return { messages: BigInt(messages), bytes, bytesMax: BigInt(config.max_bytes) };
}
