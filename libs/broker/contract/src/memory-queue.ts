import { budgetBytes } from './accept.ts';
import type { DeadLetter, Delivery, PublishOutcome, QueueStats, Topic } from './broker.ts';

export type MemoryMessage = Omit<Delivery, 'attempt'>;

/** What one durable consumer still has to settle: deliveries in flight, and messages not delivered yet (attempt 0, due since ever). */
export interface Unsettled {
  attempt: number;
  dueAtMs: number;
}

/** One tenant's queue as plain maps. Times are the monotonic clock's. Its parts are open, so that a test can look at them. */
export class MemoryQueue {
  readonly name: string;
  readonly messages = new Map<bigint, MemoryMessage>();
  readonly storedAtMs = new Map<bigint, number>();
  readonly consumers = new Map<string, Map<bigint, Unsettled>>();
  readonly keys = new Map<string, { readonly seq: bigint; readonly storedAtMs: number }>();
  readonly deadLetters: DeadLetter[] = [];
  readonly duplicateWindowMs: number;
  bytesMax = 0n;
  lastSeq = 0n;
  #lastDeadLetter = 0n;

  constructor(tenant: string, duplicateWindowMs: number) {
    this.name = `queue of ${tenant}`;
    this.duplicateWindowMs = duplicateWindowMs;
  }

  get bytes(): bigint {
    return [...this.messages.values()].reduce((total, message) => total + sizeOf(message), 0n);
  }

  stats(nowMs: number): QueueStats {
    const oldestMs = Math.min(nowMs, ...[...this.messages.keys()].map((seq) => this.storedAtMs.get(seq)!));
    return {
      messages: BigInt(this.messages.size),
      bytes: this.bytes,
      bytesMax: this.bytesMax,
      deadLetters: BigInt(this.deadLetters.length),
      oldestAgeMs: nowMs - oldestMs,
    };
  }

  resize(bytesMax: bigint): void {
    this.bytesMax = bytesMax;
  }

  store(topic: Topic, body: Uint8Array, key: string | null, nowMs: number): PublishOutcome {
    const first = key === null ? undefined : this.firstCopy(key, nowMs);
    if (first !== undefined) return { kind: 'duplicate', seq: first };
    const message = { topic, queue: this.name, body: body.slice(), idempotencyKey: key };
    if (!this.fits(sizeOf(message))) return { kind: 'full', detail: `${this.name} is full` };
    const seq = this.nextSeq();
    this.storedAtMs.set(seq, nowMs);
    this.keep({ ...message, seq });
    if (key !== null) this.keys.set(key, { seq, storedAtMs: nowMs });
    return { kind: 'stored', seq };
  }

  firstCopy(key: string, nowMs: number): bigint | undefined {
    const first = this.keys.get(key);
    return first && nowMs < first.storedAtMs + this.duplicateWindowMs ? first.seq : undefined;
  }

  fits(bytes: bigint): boolean {
    return this.bytes + bytes <= this.bytesMax;
  }

  nextSeq(): bigint {
    return ++this.lastSeq;
  }

  keep(message: MemoryMessage): void {
    this.messages.set(message.seq, message);
    for (const unsettled of this.consumers.values()) unsettled.set(message.seq, { attempt: 0, dueAtMs: 0 });
  }

  /** What the durable consumer of that name has to settle; for a new one every stored message. */
  unsettledOf(consumer: string): Map<bigint, Unsettled> {
    const known = this.consumers.get(consumer);
    if (known) return known;
    const unsettled = new Map([...this.messages.keys()].map((seq) => [seq, { attempt: 0, dueAtMs: 0 }]));
    this.consumers.set(consumer, unsettled);
    return unsettled;
  }

  deliver(consumer: string, max: number, nowMs: number, ackWaitMs: number): Delivery[] {
    const due = [...this.unsettledOf(consumer)].filter(([, { dueAtMs }]) => dueAtMs <= nowMs).slice(0, max);
    return due.map(([seq, unsettled]) => {
      unsettled.attempt++;
      unsettled.dueAtMs = nowMs + ackWaitMs;
      return { ...this.messages.get(seq)!, attempt: unsettled.attempt };
    });
  }

  pending(consumer: string): bigint {
    return BigInt(this.unsettledOf(consumer).size);
  }

  nextDueMs(consumer: string): number {
    return Math.min(...[...this.unsettledOf(consumer).values()].map(({ dueAtMs }) => dueAtMs));
  }

  ack(consumer: string, deliveries: readonly Delivery[]): void {
    for (const { seq } of deliveries) {
      this.unsettledOf(consumer).delete(seq);
      if ([...this.consumers.values()].every((unsettled) => !unsettled.has(seq))) this.messages.delete(seq);
    }
  }

  nak(consumer: string, deliveries: readonly Delivery[], dueAtMs: number): void {
    for (const { seq } of deliveries) {
      const unsettled = this.unsettledOf(consumer).get(seq);
      if (unsettled) unsettled.dueAtMs = dueAtMs;
    }
  }

  park({ attempt: _, ...message }: Delivery, reason: string, parkedAtMs: number): void {
    this.deadLetters.push({ ...message, id: ++this.#lastDeadLetter, reason, parkedAtMs });
  }

  deadLettersAfter(after: bigint, limit: number): readonly DeadLetter[] {
    return this.deadLetters.filter(({ id }) => id > after).slice(0, limit);
  }

  removeDeadLetter(id: bigint): boolean {
    const at = this.deadLetters.findIndex((letter) => letter.id === id);
    return at >= 0 && this.deadLetters.splice(at, 1).length === 1;
  }
}

function sizeOf({ topic, body, idempotencyKey }: Omit<MemoryMessage, 'seq'>): bigint {
  return budgetBytes(topic.table, idempotencyKey, body);
}
