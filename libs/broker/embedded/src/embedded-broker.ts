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
  budgetBytes,
  checkPublish,
  checkTenant,
  checkWellFormed,
  tooLarge,
} from '@tidemark/libs-broker-contract';
import { Fault, type Random } from '@tidemark/libs-kernel';
import type { Consumers } from './consumers.ts';
import { type ConsumerParts, EmbeddedConsumer } from './embedded-consumer.ts';
import type { Leases } from './leases.ts';
import { outcomeOf, throwFault } from './map-error.ts';
import type { Notifications } from './notifications.ts';
import type { Publish } from './publish.ts';
import { type QueueRow, statsOf } from './queues.ts';

export interface BrokerParts extends ConsumerParts {
  readonly publish: Publish;
  readonly consumers: Consumers;
  readonly leases: Leases;
  readonly notifications: Notifications;
  readonly random: Random;
}

/** The queues of one host, in one file. */
export class EmbeddedBroker implements Broker {
  readonly duplicateWindowMs: number;
  readonly bodyBytesMax: number;
  readonly #parts: BrokerParts;

  constructor(
    parts: BrokerParts,
    { duplicateWindowMs, bodyBytesMax }: Pick<Broker, 'duplicateWindowMs' | 'bodyBytesMax'>,
  ) {
    this.#parts = parts;
    this.duplicateWindowMs = duplicateWindowMs;
    this.bodyBytesMax = bodyBytesMax;
  }

  async openQueue(tenant: string, bytesMax: bigint): Promise<void> {
    checkTenant(tenant);
    if (bytesMax < 0n || !isInt64(bytesMax)) throw new Fault('invalid', `a budget of ${bytesMax} bytes`);
    const { queues, random } = this.#parts;
    // Another queue file of the same tenant, made after this one was deleted, must not give the same places again.
    const name = `q${Buffer.from(random.bytes(8)).toString('hex')}`;
    const work = (nowMs: number) => queues.open(tenant, bytesMax, name, BigInt(nowMs) * SEQS_PER_MS);
    return this.#write(work);
  }

  /** Nobody but this software writes the file. */
  async verifyQueues(): Promise<readonly QueueFinding[]> {
    this.#parts.file.read(() => {});
    return [];
  }

  async queues(): Promise<readonly string[]> {
    return this.#parts.file.read(() => this.#parts.queues.tenants());
  }

  async publish(topic: Topic, body: Uint8Array, options: PublishOptions = {}): Promise<PublishOutcome> {
    checkPublish(topic, options);
    const refused = tooLarge(body, this.bodyBytesMax);
    if (refused) return refused;
    const key = options.idempotencyKey ?? null;
    const bytes = budgetBytes(topic.table, key, body);
    const work = (nowMs: number) => this.#parts.publish.run({ topic, body, key, bytes }, nowMs);
    const write = { work, durable: true, wakes: true, bytes: body.byteLength };
    return this.#parts.writes.run(write).catch(outcomeOf);
  }

  async consume(tenant: string, { name, ackWaitMs }: ConsumerOptions): Promise<Consumer> {
    checkWellFormed(name, 'consumer name');
    const { id: queueId, name: queueName } = this.#queueOf(tenant);
    const id = await this.#join(tenant, name);
    return new EmbeddedConsumer({ id, tenant, queueId, queueName }, ackWaitMs, this.#parts);
  }

  async stats(tenant: string): Promise<QueueStats> {
    const { file, queues, queueClock } = this.#parts;
    const queue = this.#queueOf(tenant);
    return file.read(() => {
      const { nowMs } = queueClock.look();
      return { ...statsOf(queue), oldestAgeMs: Math.max(0, nowMs - (queues.oldestStoredAtMs(queue) ?? nowMs)) };
    });
  }

  async deadLetters(tenant: string, after: bigint, limit: number): Promise<readonly DeadLetter[]> {
    const queue = this.#queueOf(tenant);
    if (!isInt64(after)) return [];
    return this.#parts.file.read(() => this.#parts.deadLetters.list(queue, tenant, after, limit));
  }

  async removeDeadLetter(tenant: string, id: bigint): Promise<boolean> {
    this.#queueOf(tenant);
    if (!isInt64(id)) return false;
    const { queues, deadLetters } = this.#parts;
    return this.#write(() => deadLetters.remove(queues.get(tenant)!, id));
  }

  async acquireLease(name: string, owner: string, ttlMs: number): Promise<Lease | null> {
    checkWellFormed(name, 'lease name');
    return this.#parts.leases.acquire(name, owner, ttlMs);
  }

  notify(topic: string, detail: string): void {
    this.#parts.notifications.notify(topic, detail);
  }

  onNotify(topic: string, listener: (detail: string) => void): Promise<NotificationWatch> {
    return this.#parts.notifications.onNotify(topic, listener);
  }

  async ping(): Promise<void> {
    await this.queues();
  }

  async close(): Promise<void> {
    const { writes, watch, file, notifications } = this.#parts;
    file.end();
    await notifications.close();
    watch.close();
    await writes.close();
    file.close();
  }

  /** A known name costs no write. */
  async #join(tenant: string, name: string): Promise<bigint> {
    const { file, queues, consumers } = this.#parts;
    const known = file.read(() => consumers.find(this.#queueOf(tenant), name));
    return known ?? this.#write(() => consumers.join(queues.get(tenant)!, name));
  }

  #queueOf(tenant: string): QueueRow {
    checkTenant(tenant);
    const queue = this.#parts.file.read(() => this.#parts.queues.look(tenant));
    if (!queue) throw new Fault('not_found', `tenant ${tenant} has no queue`);
    return queue;
  }

  #write<T>(work: (nowMs: number) => T): Promise<T> {
    return this.#parts.writes.run({ work, durable: true, wakes: false }).catch(throwFault);
  }
}

/**
 * Seqs of a new queue begin at its time, in microseconds: a queue that is made anew after its file was deleted goes on above the seqs it
 * gave before, unless a million messages a second came all the time. The log orders writes of a document by them.
 */
const SEQS_PER_MS = 1000n;

/** What cannot be bound to a statement must not get into a transaction, where it would fail the writes beside it. */
function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}
