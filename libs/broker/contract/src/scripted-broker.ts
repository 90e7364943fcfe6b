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

export interface ScriptedEnd {
  readonly kind: 'full' | 'too_large' | 'unavailable' | 'unknown';
  /** The message is really stored, and yet the caller is told `kind`: only for the kinds that may have stored it. Default false. */
  readonly stored?: boolean;
}

export interface Published {
  readonly topic: Topic;
  readonly body: Uint8Array;
  readonly idempotencyKey: string | null;
}

/** A broker whose publishes end as a test wants, and which remembers what passed through, around any other: for tests of a flow. */
export class ScriptedBroker implements Broker {
  readonly #inner: Broker;
  readonly #ends = new Map<number, ScriptedEnd>();
  /** By the number of the call, so that the order of the answers does not matter. */
  readonly #published = new Map<number, Published>();
  /** Calls of publish, those that were made to fail included. */
  publishes = 0;

  constructor(inner: Broker) {
    this.#inner = inner;
  }

  get duplicateWindowMs(): number {
    return this.#inner.duplicateWindowMs;
  }

  get bodyBytesMax(): number {
    return this.#inner.bodyBytesMax;
  }

  /** The publish number `k` from now (1 = the next one) ends so. */
  endPublish(k: number, end: ScriptedEnd): void {
    if (end.stored && (end.kind === 'full' || end.kind === 'too_large')) throw new Error(`${end.kind} stores nothing`);
    this.#ends.set(this.publishes + k, end);
  }

  /** What the inner broker stored through here, in the order of the calls; repeats that it dropped are not among them. */
  get published(): readonly Published[] {
    return [...this.#published.values()];
  }

  async publish(topic: Topic, body: Uint8Array, options: PublishOptions = {}): Promise<PublishOutcome> {
    const call = ++this.publishes;
    const end = this.#ends.get(call);
    if (end && !end.stored) return told(end);
    this.#published.set(call, { topic, body, idempotencyKey: options.idempotencyKey ?? null });
    const outcome = await this.#inner.publish(topic, body, options);
    if (outcome.kind !== 'stored') this.#published.delete(call);
    return end ? told(end) : outcome;
  }

  openQueue(tenant: string, bytesMax: bigint): Promise<void> {
    return this.#inner.openQueue(tenant, bytesMax);
  }

  verifyQueues(): Promise<readonly QueueFinding[]> {
    return this.#inner.verifyQueues();
  }

  queues(): Promise<readonly string[]> {
    return this.#inner.queues();
  }

  consume(tenant: string, options: ConsumerOptions): Promise<Consumer> {
    return this.#inner.consume(tenant, options);
  }

  stats(tenant: string): Promise<QueueStats> {
    return this.#inner.stats(tenant);
  }

  deadLetters(tenant: string, after: bigint, limit: number): Promise<readonly DeadLetter[]> {
    return this.#inner.deadLetters(tenant, after, limit);
  }

  removeDeadLetter(tenant: string, id: bigint): Promise<boolean> {
    return this.#inner.removeDeadLetter(tenant, id);
  }

  acquireLease(name: string, owner: string, ttlMs: number): Promise<Lease | null> {
    return this.#inner.acquireLease(name, owner, ttlMs);
  }

  notify(topic: string, detail: string): void {
    this.#inner.notify(topic, detail);
  }

  onNotify(topic: string, listener: (detail: string) => void): Promise<NotificationWatch> {
    return this.#inner.onNotify(topic, listener);
  }

  ping(): Promise<void> {
    return this.#inner.ping();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

function told({ kind, stored }: ScriptedEnd): PublishOutcome {
  return { kind, detail: `told to end as ${kind}${stored ? ' after storing' : ''}` };
}
