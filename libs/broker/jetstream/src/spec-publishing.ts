import type { Broker, PublishOutcome } from '@tidemark/libs-broker-contract';
import { TOPIC } from './spec-broker.ts';
import type { Stored } from './spec-stored.ts';

/** Publishes messages under keys, each again until it is answered as stored, some in flight together. */
export class Publishing {
  readonly answered = new Map<string, bigint>();
  readonly kinds = new Map<PublishOutcome['kind'], number>();
  readonly #broker: Broker;
  readonly #events: { readonly after: number; readonly run: () => void }[] = [];

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /** Does so once after as many answers. */
  after(answers: number, run: () => void): this {
    this.#events.push({ after: answers, run });
    return this;
  }

  async run(count: number, together = 16): Promise<void> {
    let next = 0;
    const one = async () => {
      while (next < count) await this.#untilStored(`${next++}`);
    };
    await Promise.all(Array.from({ length: together }, one));
  }

  async #untilStored(text: string): Promise<void> {
    for (;;) {
      const outcome = await this.#broker.publish(TOPIC, Buffer.from(text), { idempotencyKey: `key ${text}` });
      this.kinds.set(outcome.kind, (this.kinds.get(outcome.kind) ?? 0) + 1);
      if (outcome.kind === 'full' || outcome.kind === 'too_large')
        throw new Error(`${text} is refused: ${outcome.detail}`);
      if (outcome.kind !== 'stored' && outcome.kind !== 'duplicate') continue;
      this.answered.set(`key ${text}`, outcome.seq);
      for (const { after, run } of this.#events) if (after === this.answered.size) run();
      return;
    }
  }
}

/** Every key that was answered is stored once, in the place that the answer named. */
export function expectOnce(stored: readonly Stored[], answered: ReadonlyMap<string, bigint>): void {
  expect(new Map(stored.map(({ key, seq }) => [key, seq]))).toEqual(answered);
  expect(stored).toHaveLength(answered.size);
}
