// TEMPORARY until the broker contract's memory model is there.
import type { Broker, PublishOptions, PublishOutcome, Topic } from '@tidemark/libs-broker-contract';
import type { Clock } from '@tidemark/libs-kernel';

export class QueueStandIn {
  readonly duplicateWindowMs = 120_000;
  readonly bodyBytesMax = 1_048_576;
  readonly stored: { topic: Topic; body: Uint8Array; key: string | null; atMs: number }[] = [];
  readonly #clock: Clock;
  constructor(clock: Clock) {
    this.#clock = clock;
  }
  async publish(topic: Topic, body: Uint8Array, options: PublishOptions = {}): Promise<PublishOutcome> {
    const key = options.idempotencyKey ?? null;
    const now = this.#clock.monotonic();
    const at = this.stored.findIndex(
      (m) => m.topic.tenant === topic.tenant && key !== null && m.key === key && now - m.atMs < this.duplicateWindowMs,
    );
    if (at >= 0) return { kind: 'duplicate', seq: BigInt(at + 1) };
    this.stored.push({ topic, body, key, atMs: now });
    return { kind: 'stored', seq: BigInt(this.stored.length) };
  }
}
export const asBroker = (queue: QueueStandIn): Broker => queue as unknown as Broker;
