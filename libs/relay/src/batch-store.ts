import type { Consumer, Delivery } from '@tidemark/libs-broker-contract';
import {
  type BackoffShape,
  type Fault,
  type Random,
  type Sleeper,
  type Tracer,
  asFault,
  backoffMs,
  untraced,
} from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { type Op, traceparentsOf } from '@tidemark/libs-wire';
import { eventOp } from './event-op.ts';

export interface BatchStoreOptions {
  readonly opStore: Pick<OpStore, 'append' | 'refusal'>;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log: { warn(fields: object, message: string): void };
  readonly metrics: {
    /** Events that became ops now. */
    appended(count: number): void;
    /** Events that had become ops before: late redeliveries, harmless. */
    repeated(count: number): void;
    /** Events that can never become ops, parked among the dead letters. */
    parked(): void;
  };
  readonly tracer?: Tracer;
}

interface Entry {
  readonly delivery: Delivery;
  readonly op: Op;
}

const RETRY: BackoffShape = { baseMs: 50, ceilingMs: 5000 };
/** After so many refusals for a reason of the ops they are tried one by one, and those that are refused again are parked. */
const REFUSALS_MAX = 5;

/**
 * Puts batches of events into the log, in queue order. What can never become an op is parked with its reason, so that it does not hold the
 * others: a body that is no event, an op that the store names as one that it cannot hold, and one that it refuses by itself again and
 * again. Any other fault is of the store: the batch is held and tried again, so that nothing overtakes it.
 */
export class BatchStore {
  readonly #options: BatchStoreOptions;

  constructor(options: BatchStoreOptions) {
    this.#options = options;
  }

  /**
   * True: every delivery is in the log or parked, and may be acked. False: `mayGoOn` or the signal ended it; what is not acked is
   * delivered again. Faults: those of the consumer.
   */
  async store(
    deliveries: readonly Delivery[],
    consumer: Pick<Consumer, 'deadLetter'>,
    mayGoOn: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<boolean> {
    for (const [stream, entries] of await this.#byStream(deliveries, consumer)) {
      for (let attempt = 0; ; attempt++) {
        const fault = await this.#append(stream, entries);
        if (fault === null) break;
        if (isOfTheOps(fault) && attempt >= REFUSALS_MAX - 1) {
          if (await this.#appendEach(stream, entries, consumer)) break;
        }
        await this.#options.sleeper.sleep(backoffMs(attempt, RETRY, this.#options.random), signal);
        if (signal.aborted || !(await mayGoOn())) return false;
      }
    }
    return true;
  }

  /** Each stream's in queue order. */
  async #byStream(
    deliveries: readonly Delivery[],
    consumer: Pick<Consumer, 'deadLetter'>,
  ): Promise<Map<string, Entry[]>> {
    const byStream = new Map<string, Entry[]>();
    for (const delivery of deliveries) {
      try {
        const { stream, op } = eventOp(delivery);
        const refusal = this.#options.opStore.refusal(op);
        if (refusal !== null) throw refusal;
        const entries = byStream.get(stream);
        if (entries === undefined) byStream.set(stream, [{ delivery, op }]);
        else entries.push({ delivery, op });
      } catch (thrown) {
        await this.#park(delivery, asFault(thrown), consumer);
      }
    }
    return byStream;
  }

  /** False when one failed for another reason than itself; those before it are stored, and are found there when they come again. */
  async #appendEach(
    stream: string,
    entries: readonly Entry[],
    consumer: Pick<Consumer, 'deadLetter'>,
  ): Promise<boolean> {
    for (const entry of entries) {
      const fault = await this.#append(stream, [entry]);
      if (fault === null) continue;
      if (!isOfTheOps(fault)) return false;
      await this.#park(entry.delivery, fault, consumer);
    }
    return true;
  }

  async #append(stream: string, entries: readonly Entry[]): Promise<Fault | null> {
    const { opStore, metrics, log, tracer = untraced } = this.#options;
    const ops = entries.map(({ op }) => op);
    try {
      const outcomes = await tracer.span('append', () => opStore.append(stream, ops), traceparentsOf(ops));
      const fresh = outcomes.filter(({ kind }) => kind === 'stored').length;
      metrics.appended(fresh);
      metrics.repeated(outcomes.length - fresh);
      return null;
    } catch (thrown) {
      const fault = asFault(thrown);
      log.warn({ stream, error: fault.message }, 'append failed, the batch is held');
      return fault;
    }
  }

  async #park(delivery: Delivery, { message: reason }: Fault, consumer: Pick<Consumer, 'deadLetter'>): Promise<void> {
    await consumer.deadLetter(delivery, reason);
    this.#options.metrics.parked();
    const { queue, seq } = delivery;
    this.#options.log.warn({ queue, seq: String(seq), reason }, 'dead letter: the event cannot become an op');
  }
}

function isOfTheOps({ code }: Fault): boolean {
  return code === 'invalid' || code === 'too_large' || code === 'malformed';
}
