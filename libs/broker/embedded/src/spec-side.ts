import type { Broker, Consumer, Delivery, PublishOutcome } from '@tidemark/libs-broker-contract';
import type { SeededRandom } from '@tidemark/libs-kernel/testing';
import { ACK_WAIT_MS, TENANT } from './spec-queue.ts';

/** One of the two brokers, told by places instead of seqs: theirs begin at different numbers. */
export class Side {
  readonly #open: () => Promise<Broker>;
  #brokers: Broker[] = [];
  readonly #consumers = new Map<string, Consumer>();
  readonly #places = new Map<bigint, number>();
  readonly #fetched = new Map<string, Delivery[]>();

  constructor(open: () => Promise<Broker>) {
    this.#open = open;
  }

  async broker(at: number): Promise<Broker> {
    while (this.#brokers.length <= at) this.#brokers.push(await this.#open());
    const broker = this.#brokers[at]!;
    if ((await broker.queues()).length === 0) await broker.openQueue(TENANT, 20_000n);
    return broker;
  }

  async consumer(at: number, name: string): Promise<Consumer> {
    const known = this.#consumers.get(`${at} ${name}`);
    const consumer = known ?? (await (await this.broker(at)).consume(TENANT, { name, ackWaitMs: ACK_WAIT_MS }));
    this.#consumers.set(`${at} ${name}`, consumer);
    return consumer;
  }

  place(seq: bigint): number {
    if (!this.#places.has(seq)) this.#places.set(seq, this.#places.size);
    return this.#places.get(seq)!;
  }

  told(outcome: PublishOutcome): string {
    return 'seq' in outcome ? `${outcome.kind} ${this.place(outcome.seq)}` : outcome.kind;
  }

  fetched(name: string, deliveries: readonly Delivery[]): unknown[] {
    this.#fetched.set(name, [...(this.#fetched.get(name) ?? []), ...deliveries]);
    return deliveries.map(({ seq, attempt, idempotencyKey, body }) => [
      this.place(seq),
      attempt,
      idempotencyKey,
      body.length,
    ]);
  }

  /** Some of all that was ever fetched under a name, by whichever process. */
  some(name: string, random: SeededRandom): Delivery[] {
    return (this.#fetched.get(name) ?? []).filter(() => random.fraction() < 0.3);
  }

  async restart(): Promise<void> {
    for (const broker of this.#brokers) await broker.close();
    this.#brokers = [];
    this.#consumers.clear();
  }
}
