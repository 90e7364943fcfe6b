import { type Clock, Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { Consumer, ConsumerOptions, Delivery } from './broker.ts';
import type { MemoryQueues } from './memory-broker.ts';
import type { MemoryQueue } from './memory-queue.ts';

export class MemoryConsumer implements Consumer {
  readonly #queue: MemoryQueue;
  readonly #options: ConsumerOptions;
  readonly #clock: Clock;
  readonly #sleeper: Sleeper;
  readonly #shared: MemoryQueues;
  #closed = false;

  constructor(
    queue: MemoryQueue,
    options: ConsumerOptions,
    { clock, sleeper }: { readonly clock: Clock; readonly sleeper: Sleeper },
    shared: MemoryQueues,
  ) {
    this.#queue = queue;
    this.#options = options;
    this.#clock = clock;
    this.#sleeper = sleeper;
    this.#shared = shared;
    queue.unsettledOf(options.name);
  }

  async fetch(max: number, waitMs: number, signal?: AbortSignal): Promise<readonly Delivery[]> {
    if (this.#closed) throw new Fault('unavailable', 'the consumer is closed');
    const { name, ackWaitMs } = this.#options;
    const endsAtMs = this.#clock.monotonic() + waitMs;
    while (!signal?.aborted && !this.#closed) {
      const nowMs = this.#clock.monotonic();
      const deliveries = this.#queue.deliver(name, max, nowMs, ackWaitMs);
      if (deliveries.length > 0 || nowMs >= endsAtMs) return deliveries;
      await this.#nextChange(Math.min(endsAtMs, this.#queue.nextDueMs(name)) - nowMs, signal);
    }
    return [];
  }

  async ack(deliveries: readonly Delivery[]): Promise<void> {
    this.#queue.ack(this.#options.name, deliveries);
  }

  async nak(deliveries: readonly Delivery[], delayMs: number): Promise<void> {
    this.#queue.nak(this.#options.name, deliveries, this.#clock.monotonic() + delayMs);
    this.wakeOthers();
  }

  async deadLetter(delivery: Delivery, reason: string): Promise<void> {
    this.#queue.park(delivery, reason, this.#clock.now());
  }

  async pending(): Promise<bigint> {
    return this.#queue.pending(this.#options.name);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#shared.changed();
  }

  protected wakeOthers(): void {
    this.#shared.changed();
  }

  async #nextChange(waitMs: number, signal?: AbortSignal): Promise<void> {
    const changed = new AbortController();
    const wake = () => changed.abort();
    const forget = this.#shared.onChange(wake);
    signal?.addEventListener('abort', wake, { once: true });
    await this.#sleeper.sleep(waitMs, changed.signal);
    signal?.removeEventListener('abort', wake);
    forget();
  }
}
