import type { Consumer, Delivery } from '@tidemark/libs-broker-contract';
import { type Clock, Fault, assert } from '@tidemark/libs-kernel';
import type { ChangeWatch } from './change-watch.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Claim, Sight } from './claim.ts';
import type { DurableConsumer } from './consumers.ts';
import type { JoinedWrites, Write } from './joined-writes.ts';
import { throwFault } from './map-error.ts';
import type { QueueClock } from './queue-clock.ts';
import type { QueueFile } from './queue-file.ts';
import type { Queues } from './queues.ts';
import type { Settle } from './settle.ts';

export interface ConsumerParts {
  readonly file: QueueFile;
  readonly queues: Queues;
  readonly claim: Claim;
  readonly settle: Settle;
  readonly deadLetters: DeadLetters;
  readonly writes: JoinedWrites;
  readonly watch: ChangeWatch;
  readonly queueClock: QueueClock;
  readonly clock: Clock;
}

/** One process's hold on a durable name. */
export class EmbeddedConsumer implements Consumer {
  readonly #durable: DurableConsumer;
  readonly #ackWaitMs: number;
  readonly #parts: ConsumerParts;
  #closed = false;

  constructor(durable: DurableConsumer, ackWaitMs: number, parts: ConsumerParts) {
    this.#durable = durable;
    this.#ackWaitMs = Math.ceil(ackWaitMs);
    this.#parts = parts;
  }

  async fetch(max: number, waitMs: number, signal?: AbortSignal): Promise<readonly Delivery[]> {
    if (this.#hasEnded()) throw new Fault('unavailable', 'the consumer is closed');
    const { clock, watch } = this.#parts;
    const endsAtMs = clock.monotonic() + waitMs;
    while (!signal?.aborted && !this.#hasEnded()) {
      const seen = watch.state();
      const { ready, dueInMs } = this.#look();
      const deliveries = ready ? await this.#claim(max) : [];
      const leftMs = endsAtMs - clock.monotonic();
      if (deliveries.length > 0 || leftMs <= 0) return deliveries;
      await watch.next(seen, Math.min(leftMs, Math.max(dueInMs, 1)), signal);
    }
    return [];
  }

  async ack(deliveries: readonly Delivery[]): Promise<void> {
    this.#checkOwn(deliveries);
    const work = () => this.#parts.settle.ack(this.#durable, deliveries);
    return this.#write({ work, durable: true, wakes: true });
  }

  async nak(deliveries: readonly Delivery[], delayMs: number): Promise<void> {
    this.#checkOwn(deliveries);
    const work = (nowMs: number) => this.#parts.settle.nak(this.#durable, deliveries, nowMs + Math.ceil(delayMs));
    return this.#write({ work, durable: false, wakes: true });
  }

  async deadLetter(delivery: Delivery, reason: string): Promise<void> {
    this.#checkOwn([delivery]);
    const { queues, deadLetters, clock } = this.#parts;
    const work = () => deadLetters.park(queues.get(this.#durable.tenant)!, delivery, reason, Math.floor(clock.now()));
    return this.#write({ work, durable: true, wakes: false });
  }

  async pending(): Promise<bigint> {
    return this.#parts.file.read(() => this.#parts.settle.pending(this.#durable));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#parts.watch.changed();
  }

  #look(): Sight {
    const { file, queueClock, claim } = this.#parts;
    return file.read(() => {
      const { nowMs, wentBack } = queueClock.look();
      const sight = claim.look(this.#durable, nowMs);
      // The claim's transaction sets the clock going again.
      return { ...sight, ready: sight.ready || wentBack };
    });
  }

  /** Without the disk: a fetch that a power cut undoes is given again. */
  #claim(max: number): Promise<Delivery[]> {
    const work = (nowMs: number) => this.#parts.claim.run(this.#durable, max, nowMs, this.#ackWaitMs);
    return this.#write({ work, durable: false, wakes: false });
  }

  #write<T>(write: Write<T>): Promise<T> {
    return this.#parts.writes.run(write).catch(throwFault);
  }

  #hasEnded(): boolean {
    return this.#closed || !this.#parts.file.isOpen;
  }

  #checkOwn(deliveries: readonly Delivery[]): void {
    for (const { queue } of deliveries) assert(queue === this.#durable.queueName, 'a delivery of this queue');
  }
}
