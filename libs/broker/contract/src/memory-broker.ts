import { type Clock, compareUtf8, DUPLICATE_WINDOW_MS, Fault, type Sleeper } from '@tidemark/libs-kernel';
import { BODY_BYTES_MAX_DEFAULT, checkPublish, checkTenant, tooLarge } from './accept.ts';
import type {
  Broker,
  Consumer,
  ConsumerOptions,
  DeadLetter,
  Lease,
  NotificationWatch,
  PublishOptions,
  PublishOutcome,
  QueueFinding,
  QueueStats,
  Topic,
} from './broker.ts';
import { MemoryConsumer } from './memory-consumer.ts';
import { MemoryLeases } from './memory-leases.ts';
import { MemoryNotifications } from './memory-notifications.ts';
import { MemoryQueue } from './memory-queue.ts';

export interface MemoryBrokerOptions {
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly duplicateWindowMs?: number;
  readonly bodyBytesMax?: number;
}

/** What the model is made of; a mutant changes one of them. */
export const soundParts = {
  Queue: MemoryQueue,
  Consumer: MemoryConsumer,
  Leases: MemoryLeases,
  Notifications: MemoryNotifications,
};

/** What brokers of several processes share: in an adapter this is on disk. */
export class MemoryQueues {
  readonly byTenant = new Map<string, MemoryQueue>();
  readonly leases: MemoryLeases;
  readonly notifications: MemoryNotifications;
  readonly parts: typeof soundParts;
  readonly #fetching = new Set<() => void>();

  constructor(clock: Clock, parts = soundParts) {
    this.leases = new parts.Leases(() => clock.monotonic());
    this.notifications = new parts.Notifications();
    this.parts = parts;
  }

  onChange(wake: () => void): () => void {
    this.#fetching.add(wake);
    return () => this.#fetching.delete(wake);
  }

  changed(): void {
    for (const wake of [...this.#fetching]) wake();
  }
}

/** The model of a broker: what adapters are measured by, and what flows are tested on. */
export class MemoryBroker implements Broker {
  readonly duplicateWindowMs: number;
  readonly bodyBytesMax: number;
  readonly shared: MemoryQueues;
  readonly #options: MemoryBrokerOptions;
  readonly #consumers = new Set<MemoryConsumer>();
  #closed = false;

  /** Two brokers over one `shared` are two processes on the same queues. */
  constructor(options: MemoryBrokerOptions, shared = new MemoryQueues(options.clock)) {
    this.duplicateWindowMs = options.duplicateWindowMs ?? DUPLICATE_WINDOW_MS;
    this.bodyBytesMax = options.bodyBytesMax ?? BODY_BYTES_MAX_DEFAULT;
    this.shared = shared;
    this.#options = options;
  }

  async openQueue(tenant: string, bytesMax: bigint): Promise<void> {
    this.#checkOpen();
    checkTenant(tenant);
    const { byTenant, parts } = this.shared;
    const queue = byTenant.get(tenant) ?? new parts.Queue(tenant, this.duplicateWindowMs);
    queue.resize(bytesMax);
    byTenant.set(tenant, queue);
  }

  /** Nobody but its brokers reaches the model. */
  async verifyQueues(): Promise<readonly QueueFinding[]> {
    this.#checkOpen();
    return [];
  }

  async queues(): Promise<readonly string[]> {
    this.#checkOpen();
    return [...this.shared.byTenant.keys()].sort(compareUtf8);
  }

  async publish(topic: Topic, body: Uint8Array, options: PublishOptions = {}): Promise<PublishOutcome> {
    checkPublish(topic, options);
    if (this.#closed) return { kind: 'unavailable', detail: 'the broker is closed' };
    const refused = tooLarge(body, this.bodyBytesMax);
    if (refused) return refused;
    const queue = this.shared.byTenant.get(topic.tenant);
    if (!queue) return { kind: 'full', detail: `${topic.tenant} has no queue` };
    const nowMs = this.#options.clock.monotonic();
    const outcome = queue.store(topic, body, options.idempotencyKey ?? null, nowMs);
    this.shared.changed();
    return outcome;
  }

  async consume(tenant: string, options: ConsumerOptions): Promise<Consumer> {
    const { Consumer } = this.shared.parts;
    const consumer = new Consumer(this.queueOf(tenant), options, this.#options, this.shared);
    this.#consumers.add(consumer);
    return consumer;
  }

  async stats(tenant: string): Promise<QueueStats> {
    return this.queueOf(tenant).stats(this.#options.clock.monotonic());
  }

  async deadLetters(tenant: string, after: bigint, limit: number): Promise<readonly DeadLetter[]> {
    return this.queueOf(tenant).deadLettersAfter(after, limit);
  }

  async removeDeadLetter(tenant: string, id: bigint): Promise<boolean> {
    return this.queueOf(tenant).removeDeadLetter(id);
  }

  async acquireLease(name: string, owner: string, ttlMs: number): Promise<Lease | null> {
    this.#checkOpen();
    return this.shared.leases.acquire(name, owner, ttlMs);
  }

  notify(topic: string, detail: string): void {
    if (!this.#closed) this.shared.notifications.notify(this, topic, detail);
  }

  async onNotify(topic: string, listener: (detail: string) => void): Promise<NotificationWatch> {
    this.#checkOpen();
    return this.shared.notifications.listen(this, topic, listener);
  }

  async ping(): Promise<void> {
    this.#checkOpen();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.shared.notifications.leave(this);
    for (const consumer of this.#consumers) await consumer.close();
  }

  protected queueOf(tenant: string): MemoryQueue {
    this.#checkOpen();
    checkTenant(tenant);
    const queue = this.shared.byTenant.get(tenant);
    if (!queue) throw new Fault('not_found', `${tenant} has no queue`);
    return queue;
  }

  #checkOpen(): void {
    if (this.#closed) throw new Fault('unavailable', 'the broker is closed');
  }
}
