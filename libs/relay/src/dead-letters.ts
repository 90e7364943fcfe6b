import type { Broker, DeadLetter } from '@tidemark/libs-broker-contract';
import { Fault } from '@tidemark/libs-kernel';
import type { AppendOutcome, OpStore } from '@tidemark/libs-op-store-contract';
import { eventOp } from './event-op.ts';

export interface Replayed {
  readonly stream: string;
  readonly opId: string;
  readonly outcome: AppendOutcome;
}

/** Events that could not become ops, for an operator (BRK-5): looked at, tried again, or given up. */
export class DeadLetters {
  readonly #broker: Pick<Broker, 'deadLetters' | 'removeDeadLetter'>;
  readonly #opStore: Pick<OpStore, 'append' | 'refusal'>;

  constructor(broker: Pick<Broker, 'deadLetters' | 'removeDeadLetter'>, opStore: Pick<OpStore, 'append' | 'refusal'>) {
    this.#broker = broker;
    this.#opStore = opStore;
  }

  /** With id > after, oldest first. Faults: `not_found` for a tenant without a queue, those of the broker. */
  list(tenant: string, after: bigint, limit: number): Promise<readonly DeadLetter[]> {
    return this.#broker.deadLetters(tenant, after, limit);
  }

  /** Fault `not_found`. */
  async find(tenant: string, id: bigint): Promise<DeadLetter> {
    const [letter] = await this.#broker.deadLetters(tenant, id - 1n, 1);
    if (letter?.id !== id) throw new Fault('not_found', `no dead letter ${id} of tenant ${tenant}`);
    return letter;
  }

  /**
   * Appends the event to its stream, under the op id that it had from the start, then removes the letter: a repeat, also after a crash
   * between the two, finds the op. It is not put into the queue again, which would take it for a repeat of itself and drop it. Faults:
   * `not_found`, those that parked it (`invalid`, `malformed`, `too_large`: it stays), those of the store and the broker.
   */
  async replay(tenant: string, id: bigint): Promise<Replayed> {
    const letter = await this.find(tenant, id);
    const { stream, op } = eventOp(letter);
    const refusal = this.#opStore.refusal(op);
    if (refusal !== null) throw refusal;
    const [outcome] = await this.#opStore.append(stream, [op]);
    await this.#broker.removeDeadLetter(tenant, id);
    return { stream, opId: op.opId, outcome: outcome as AppendOutcome };
  }

  /** Gives the event up. Fault `not_found`. */
  async drop(tenant: string, id: bigint): Promise<void> {
    if (!(await this.#broker.removeDeadLetter(tenant, id)))
      throw new Fault('not_found', `no dead letter ${id} of tenant ${tenant}`);
  }
}
