import type {
  Consumer,
  ConsumerOptions,
  Delivery,
  PublishOptions,
  PublishOutcome,
  QueueFinding,
  Topic,
} from '../broker.ts';
import { MemoryBroker } from '../memory-broker.ts';
import { MemoryConsumer } from '../memory-consumer.ts';
import type { MemoryParts } from '../memory-harness.ts';
import { type MemoryMessage, MemoryQueue } from '../memory-queue.ts';

let processes = 0;

/** What a broker makes of a publish, broken. */
export const publishMutants: Readonly<Record<string, MemoryParts>> = {
  emptyTenantIsDefault: publishing((topic) => ({ topic: { ...topic, tenant: topic.tenant || 'acme' } })),
  replacesLoneSurrogates: publishing(({ tenant, table }, options) => ({
    topic: { tenant: tenant.toWellFormed(), table: table.toWellFormed() },
    options: options.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey.toWellFormed() },
  })),
  takesEmptyKey: publishing((topic, options) => ({ topic, options: options.idempotencyKey === '' ? {} : options })),
  sharesQueueByPrefix: publishing((topic) => ({
    topic: topic.tenant === 'ab' ? { ...topic, tenant: 'a' } : topic,
  })),
  storesTooLarge: withBroker(
    class extends MemoryBroker {
      override async publish(topic: Topic, body: Uint8Array, options?: PublishOptions): Promise<PublishOutcome> {
        if (body.byteLength <= this.bodyBytesMax) return super.publish(topic, body, options);
        return this.queueOf(topic.tenant).store(topic, body, null, 0);
      }
    },
  ),
  opensQueueOnPublish: withBroker(
    class extends MemoryBroker {
      override async publish(topic: Topic, body: Uint8Array, options?: PublishOptions): Promise<PublishOutcome> {
        if (topic.tenant === 'unknown') await this.openQueue(topic.tenant, 1_000_000n);
        return super.publish(topic, body, options);
      }
    },
  ),
  swapsPublishesInFlight: withBroker(
    class extends MemoryBroker {
      #calls = 0;
      override async publish(topic: Topic, body: Uint8Array, options: PublishOptions = {}): Promise<PublishOutcome> {
        if (options.idempotencyKey === undefined && this.#calls++ % 2 === 0) await undefined;
        return super.publish(topic, body, options);
      }
    },
  ),
  storesRepeatsInFlight: withBroker(
    class extends MemoryBroker {
      readonly #inFlight = new Set<string>();
      override async publish(topic: Topic, body: Uint8Array, options: PublishOptions = {}): Promise<PublishOutcome> {
        const key = options.idempotencyKey;
        if (key === undefined) return super.publish(topic, body);
        if (this.#inFlight.has(key)) return super.publish(topic, body);
        this.#inFlight.add(key);
        await undefined;
        this.#inFlight.delete(key);
        return super.publish(topic, body, options);
      }
    },
  ),
  keysAcrossTenants: withBroker(
    class extends MemoryBroker {
      override async publish(topic: Topic, body: Uint8Array, options: PublishOptions = {}): Promise<PublishOutcome> {
        for (const queue of this.shared.byTenant.values()) {
          const first = queue.keys.get(options.idempotencyKey ?? '');
          if (first && !queue.name.endsWith(` ${topic.tenant}`)) return { kind: 'duplicate', seq: first.seq };
        }
        return super.publish(topic, body, options);
      }
    },
  ),
  processesKeepTheirKeys: withBroker(
    class extends MemoryBroker {
      readonly #own = new Set<string>();
      override async publish(topic: Topic, body: Uint8Array, options: PublishOptions = {}): Promise<PublishOutcome> {
        const key = options.idempotencyKey;
        if (key === undefined) return super.publish(topic, body, options);
        if (!this.#own.has(key)) this.shared.byTenant.get(topic.tenant)?.keys.delete(key);
        this.#own.add(key);
        return super.publish(topic, body, options);
      }
    },
  ),
};

/** What a broker does at its ends, and around its queues, broken. */
export const lifeMutants: Readonly<Record<string, MemoryParts>> = {
  findsFaultWithAll: withBroker(
    class extends MemoryBroker {
      override async verifyQueues(): Promise<readonly QueueFinding[]> {
        const tenants = await this.queues();
        return tenants.map((tenant) => ({ tenant, detail: 'is odd', mended: true }));
      }
    },
  ),
  restartForgetsKeys: withBroker(
    class extends MemoryBroker {
      override async close(): Promise<void> {
        for (const queue of this.shared.byTenant.values()) queue.keys.clear();
        await super.close();
      }
    },
  ),
  closeLosesDeliveries: withBroker(
    class extends MemoryBroker {
      override async close(): Promise<void> {
        for (const queue of this.shared.byTenant.values()) settleAllInFlight(queue);
        await super.close();
      }
    },
  ),
  forgetsAcksOnRestart: {
    Queue: class extends MemoryQueue {
      readonly acked: MemoryMessage[] = [];
      override ack(consumer: string, deliveries: readonly Delivery[]): void {
        for (const { attempt: _, ...message } of deliveries) this.acked.push(message);
        super.ack(consumer, deliveries);
      }
    },
    Broker: class extends MemoryBroker {
      override async close(): Promise<void> {
        for (const queue of this.shared.byTenant.values())
          if ('acked' in queue) for (const message of queue.acked as MemoryMessage[]) queue.keep(message);
        await super.close();
      }
    },
  },
  closedStillStores: withBroker(
    class extends MemoryBroker {
      override async close(): Promise<void> {}
    },
  ),
  listsQueuesInUtf16Order: withBroker(
    class extends MemoryBroker {
      override async queues(): Promise<readonly string[]> {
        return (await super.queues()).toSorted();
      }
    },
  ),
  unknownQueueIsEmpty: withBroker(
    class extends MemoryBroker {
      protected override queueOf(tenant: string): MemoryQueue {
        if (tenant !== 'unknown') return super.queueOf(tenant);
        return new MemoryQueue(tenant, this.duplicateWindowMs);
      }
    },
  ),
  processesDoNotShare: withBroker(
    class extends MemoryBroker {
      readonly #number = processes++;
      override consume(tenant: string, options: ConsumerOptions): Promise<Consumer> {
        return super.consume(tenant, { ...options, name: `${options.name} of process ${this.#number}` });
      }
    },
  ),
};

/** How a consumer waits and hands back, broken. */
export const waitMutants: Readonly<Record<string, MemoryParts>> = {
  fetchDoesNotWait: fetching((waitMs, signal) => [waitMs && 0, signal]),
  waitsForEver: fetching((waitMs, signal) => [waitMs && Infinity, signal]),
  ignoresAbort: fetching((waitMs) => [waitMs, undefined]),
  closeLeavesFetchWaiting: withConsumer(
    class extends MemoryConsumer {
      override async close(): Promise<void> {}
    },
  ),
  nakForgets: withConsumer(
    class extends MemoryConsumer {
      override nak(deliveries: readonly Delivery[], delayMs: number): Promise<void> {
        return super.nak(deliveries, delayMs && Infinity);
      }
    },
  ),
  nakWakesNobody: withConsumer(
    class extends MemoryConsumer {
      protected override wakeOthers(): void {}
    },
  ),
};

function withBroker(Broker: typeof MemoryBroker): MemoryParts {
  return { Broker };
}

function withConsumer(ConsumerPart: typeof MemoryConsumer): MemoryParts {
  return { Consumer: ConsumerPart };
}

function publishing(
  instead: (topic: Topic, options: PublishOptions) => { readonly topic: Topic; readonly options?: PublishOptions },
): MemoryParts {
  return withBroker(
    class extends MemoryBroker {
      override async publish(topic: Topic, body: Uint8Array, options: PublishOptions = {}): Promise<PublishOutcome> {
        const changed = instead(topic, options);
        return super.publish(changed.topic, body, changed.options ?? options);
      }
    },
  );
}

function fetching(
  instead: (waitMs: number, signal?: AbortSignal) => readonly [number, AbortSignal | undefined],
): MemoryParts {
  return withConsumer(
    class extends MemoryConsumer {
      override fetch(max: number, waitMs: number, signal?: AbortSignal): Promise<readonly Delivery[]> {
        const [changedMs, changedSignal] = instead(waitMs, signal);
        return super.fetch(max, changedMs, changedSignal);
      }
    },
  );
}

function settleAllInFlight(queue: MemoryQueue): void {
  for (const unsettled of queue.consumers.values())
    for (const [seq, { attempt }] of unsettled) if (attempt > 0) unsettled.delete(seq);
}
