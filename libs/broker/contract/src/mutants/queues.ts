import type { DeadLetter, Delivery, PublishOutcome, QueueStats, Topic } from '../broker.ts';
import type { MemoryParts } from '../memory-harness.ts';
import { type MemoryMessage, MemoryQueue } from '../memory-queue.ts';

/** What a queue stores and refuses, broken. */
export const storeMutants: Readonly<Record<string, MemoryParts>> = {
  cutsTableAtNul: keeping((message) => ({
    ...message,
    topic: { ...message.topic, table: message.topic.table.split('\0')[0]! },
  })),
  bodyAsText: keeping((message) => ({ ...message, body: Buffer.from(Buffer.from(message.body).toString()) })),
  deliversNoKey: keeping((message) => ({ ...message, idempotencyKey: null })),
  seqRestartsWhenEmpty: withQueue(
    class extends MemoryQueue {
      override nextSeq(): bigint {
        if (this.messages.size === 0) this.lastSeq = 0n;
        return super.nextSeq();
      }
    },
  ),
  dropsEqualBodies: withQueue(
    class extends MemoryQueue {
      override store(topic: Topic, body: Uint8Array, key: string | null, nowMs: number): PublishOutcome {
        const equal = [...this.messages.values()].find((message) => Buffer.compare(message.body, body) === 0);
        return key === null && equal ? { kind: 'duplicate', seq: equal.seq } : super.store(topic, body, key, nowMs);
      }
    },
  ),
  dropsWithoutConsumer: withQueue(
    class extends MemoryQueue {
      override keep(message: MemoryMessage): void {
        if (this.consumers.size > 0) super.keep(message);
      }
    },
  ),
  fullDropsOldest: withQueue(
    class extends MemoryQueue {
      override fits(bytes: bigint): boolean {
        const fits = super.fits(bytes);
        if (!fits) dropOldest(this);
        return fits;
      }
    },
  ),
  ackedStillCount: withQueue(
    class extends MemoryQueue {
      #everBytes = 0n;
      override fits(bytes: bigint): boolean {
        const fits = this.#everBytes + bytes <= this.bytesMax;
        if (fits) this.#everBytes += bytes;
        return fits;
      }
    },
  ),
  shrinkDrops: withQueue(
    class extends MemoryQueue {
      override resize(bytesMax: bigint): void {
        super.resize(bytesMax);
        while (this.bytes > bytesMax) dropOldest(this);
      }
    },
  ),
  neverGrows: withQueue(
    class extends MemoryQueue {
      override resize(bytesMax: bigint): void {
        if (this.bytesMax === 0n || bytesMax < this.bytesMax) super.resize(bytesMax);
      }
    },
  ),
  openingEmpties: withQueue(
    class extends MemoryQueue {
      override resize(bytesMax: bigint): void {
        if (bytesMax === this.bytesMax) while (this.messages.size > 0) dropOldest(this);
        super.resize(bytesMax);
      }
    },
  ),
  statsCountAcked: withQueue(
    class extends MemoryQueue {
      override stats(nowMs: number): QueueStats {
        return { ...super.stats(nowMs), messages: this.lastSeq };
      }
    },
  ),
  ageOfTheNewest: withQueue(
    class extends MemoryQueue {
      override stats(nowMs: number): QueueStats {
        const newest = [...this.messages.keys()].at(-1);
        return { ...super.stats(nowMs), oldestAgeMs: nowMs - (this.storedAtMs.get(newest ?? -1n) ?? nowMs) };
      }
    },
  ),
};

/** How a queue knows a repeat, broken. */
export const repeatMutants: Readonly<Record<string, MemoryParts>> = {
  duplicateNamesAnotherSeq: withQueue(
    class extends MemoryQueue {
      override firstCopy(key: string, nowMs: number): bigint | undefined {
        return super.firstCopy(key, nowMs) && this.lastSeq;
      }
    },
  ),
  storesRepeats: withQueue(
    class extends MemoryQueue {
      override store(topic: Topic, body: Uint8Array, key: string | null, nowMs: number): PublishOutcome {
        const outcome = super.store(topic, body, key, nowMs);
        // The copy in flight together with the first one is the matter of another case: it has the same body.
        const other = [...this.messages.values()].every((message) => Buffer.compare(message.body, body) !== 0);
        if (outcome.kind === 'duplicate' && other) super.store(topic, body, null, nowMs);
        return outcome;
      }
    },
  ),
  windowIsTooShort: windowOf((windowMs) => windowMs / 2),
  keysAreForEver: windowOf(() => Infinity),
  repeatsProlongTheWindow: withQueue(
    class extends MemoryQueue {
      override firstCopy(key: string, nowMs: number): bigint | undefined {
        const seq = super.firstCopy(key, nowMs);
        if (seq !== undefined) this.keys.set(key, { seq, storedAtMs: nowMs });
        return seq;
      }
    },
  ),
  ackForgetsKey: withQueue(
    class extends MemoryQueue {
      override ack(consumer: string, deliveries: readonly Delivery[]): void {
        super.ack(consumer, deliveries);
        for (const { idempotencyKey } of deliveries) if (idempotencyKey !== null) this.keys.delete(idempotencyKey);
      }
    },
  ),
  refusedKeyIsUsed: withQueue(
    class extends MemoryQueue {
      override store(topic: Topic, body: Uint8Array, key: string | null, nowMs: number): PublishOutcome {
        const outcome = super.store(topic, body, key, nowMs);
        if (outcome.kind === 'full' && key !== null) this.keys.set(key, { seq: 0n, storedAtMs: nowMs });
        return outcome;
      }
    },
  ),
  fullBeforeDuplicate: withQueue(
    class extends MemoryQueue {
      override store(topic: Topic, body: Uint8Array, key: string | null, nowMs: number): PublishOutcome {
        if (!this.fits(BigInt(body.byteLength))) return { kind: 'full', detail: 'full' };
        return super.store(topic, body, key, nowMs);
      }
    },
  ),
};

/** What a queue delivers, broken. */
export const deliverMutants: Readonly<Record<string, MemoryParts>> = {
  deliversNewestFirst: delivering((deliveries) => deliveries.toReversed()),
  attemptIsAlwaysOne: delivering((deliveries) => deliveries.map((delivery) => ({ ...delivery, attempt: 1 }))),
  ignoresMax: withQueue(
    class extends MemoryQueue {
      override deliver(consumer: string, _max: number, nowMs: number, ackWaitMs: number): Delivery[] {
        return super.deliver(consumer, Infinity, nowMs, ackWaitMs);
      }
    },
  ),
  neverRedelivers: ackWaiting(() => Infinity),
  redeliversEarly: ackWaiting((ackWaitMs) => ackWaitMs / 2),
  nakIgnoresDelay: withQueue(
    class extends MemoryQueue {
      override nak(consumer: string, deliveries: readonly Delivery[]): void {
        super.nak(consumer, deliveries, 0);
      }
    },
  ),
  resurrectsAcked: withQueue(
    class extends MemoryQueue {
      readonly #acked = new Map<MemoryMessage, number>();
      override deliver(consumer: string, max: number, nowMs: number, ackWaitMs: number): Delivery[] {
        for (const [message, dueAtMs] of this.#acked) {
          if (dueAtMs <= nowMs && this.#acked.delete(message) && !this.messages.has(message.seq)) this.keep(message);
        }
        const deliveries = super.deliver(consumer, max, nowMs, ackWaitMs);
        for (const { attempt: _, ...message } of deliveries) this.#acked.set(message, nowMs + ackWaitMs);
        return deliveries;
      }
    },
  ),
  acksUpTo: withQueue(
    class extends MemoryQueue {
      override ack(consumer: string, deliveries: readonly Delivery[]): void {
        super.ack(consumer, deliveries);
        if (deliveries.length < 3) return;
        const upTo = deliveries.reduce((max, { seq }) => (seq > max ? seq : max), 0n);
        const below = [...this.messages.values()].filter(({ seq }) => seq < upTo);
        super.ack(
          consumer,
          below.map((message) => ({ ...message, attempt: 1 })),
        );
      }
    },
  ),
  lateAckIsIgnored: withQueue(
    class extends MemoryQueue {
      override ack(consumer: string, deliveries: readonly Delivery[]): void {
        const unsettled = this.unsettledOf(consumer);
        super.ack(
          consumer,
          deliveries.filter(({ seq, attempt }) => unsettled.get(seq)?.attempt === attempt),
        );
      }
    },
  ),
  firstAckRemoves: withQueue(
    class extends MemoryQueue {
      override ack(_consumer: string, deliveries: readonly Delivery[]): void {
        for (const consumer of this.consumers.keys()) super.ack(consumer, deliveries);
      }
    },
  ),
  newNameBeginsAtTheEnd: withQueue(
    class extends MemoryQueue {
      override unsettledOf(consumer: string) {
        if (!this.consumers.has(consumer)) this.consumers.set(consumer, new Map());
        return super.unsettledOf(consumer);
      }
    },
  ),
  pendingSkipsInFlight: withQueue(
    class extends MemoryQueue {
      override pending(consumer: string): bigint {
        return BigInt([...this.unsettledOf(consumer).values()].filter(({ attempt }) => attempt === 0).length);
      }
    },
  ),
  waitsForPublishesOnly: withQueue(
    class extends MemoryQueue {
      override nextDueMs(): number {
        return Infinity;
      }
    },
  ),
};

/** What a queue parks, broken. */
export const deadLetterMutants: Readonly<Record<string, MemoryParts>> = {
  deadLetterLosesKey: withQueue(
    class extends MemoryQueue {
      override park(delivery: Delivery, reason: string, parkedAtMs: number): void {
        super.park({ ...delivery, idempotencyKey: null }, reason, parkedAtMs);
      }
    },
  ),
  deadLetterAcks: withQueue(
    class extends MemoryQueue {
      override park(delivery: Delivery, reason: string, parkedAtMs: number): void {
        super.park(delivery, reason, parkedAtMs);
        for (const consumer of this.consumers.keys()) this.ack(consumer, [delivery]);
      }
    },
  ),
  ackRemovesDeadLetter: withQueue(
    class extends MemoryQueue {
      override ack(consumer: string, deliveries: readonly Delivery[]): void {
        super.ack(consumer, deliveries);
        for (const { id, seq } of [...this.deadLetters])
          if (deliveries.some((delivery) => delivery.seq === seq)) this.removeDeadLetter(id);
      }
    },
  ),
  pagesStartOver: withQueue(
    class extends MemoryQueue {
      override deadLettersAfter(_after: bigint, limit: number): readonly DeadLetter[] {
        return super.deadLettersAfter(0n, limit);
      }
    },
  ),
  deadLettersAreNotCounted: withQueue(
    class extends MemoryQueue {
      override stats(nowMs: number): QueueStats {
        return { ...super.stats(nowMs), deadLetters: 0n };
      }
    },
  ),
  removesNoDeadLetter: withQueue(
    class extends MemoryQueue {
      override removeDeadLetter(id: bigint): boolean {
        return this.deadLetters.some((letter) => letter.id === id);
      }
    },
  ),
};

function withQueue(Queue: typeof MemoryQueue): MemoryParts {
  return { Queue };
}

function keeping(instead: (message: MemoryMessage) => MemoryMessage): MemoryParts {
  return withQueue(
    class extends MemoryQueue {
      override keep(message: MemoryMessage): void {
        super.keep(instead(message));
      }
    },
  );
}

function windowOf(insteadMs: (windowMs: number) => number): MemoryParts {
  return withQueue(
    class extends MemoryQueue {
      constructor(tenant: string, duplicateWindowMs: number) {
        super(tenant, insteadMs(duplicateWindowMs));
      }
    },
  );
}

function delivering(instead: (deliveries: Delivery[]) => Delivery[]): MemoryParts {
  return withQueue(
    class extends MemoryQueue {
      override deliver(consumer: string, max: number, nowMs: number, ackWaitMs: number): Delivery[] {
        return instead(super.deliver(consumer, max, nowMs, ackWaitMs));
      }
    },
  );
}

function ackWaiting(insteadMs: (ackWaitMs: number) => number): MemoryParts {
  return withQueue(
    class extends MemoryQueue {
      override deliver(consumer: string, max: number, nowMs: number, ackWaitMs: number): Delivery[] {
        return super.deliver(consumer, max, nowMs, insteadMs(ackWaitMs));
      }
    },
  );
}

function dropOldest(queue: MemoryQueue): void {
  const [seq] = queue.messages.keys();
  queue.messages.delete(seq!);
  for (const unsettled of queue.consumers.values()) unsettled.delete(seq!);
}
