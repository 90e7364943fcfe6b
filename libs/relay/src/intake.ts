import type { Broker, Consumer, Lease } from '@tidemark/libs-broker-contract';
import { type Clock, asFault } from '@tidemark/libs-kernel';
import { BatchStore, type BatchStoreOptions } from './batch-store.ts';

export interface IntakeOptions extends BatchStoreOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  /** Names this replica among those that want to drain a queue. */
  readonly owner: string;
}

const BATCH_MAX = 256;
/** A replica that dies stops draining for at most this long. */
const LEASE_MS = 5000;
const RENEW_MS = LEASE_MS / 3;
const FETCH_WAIT_MS = 500;
/**
 * What a dead replica had fetched must be due again when its lease has lapsed, or newer events would overtake it. A fetch begins at most
 * RENEW_MS after a renewal and gives at most FETCH_WAIT_MS later; the rest is for a slow loop.
 * Who is alive and slower than this loses nothing: nobody else fetches under its lease, and its ack is right whenever it comes.
 */
const CONSUMER = { name: 'relay-intake', ackWaitMs: 2000 };
const QUEUES_LOOK_MS = 500;
const PENDING_LOOK_MS = 20;

/**
 * Turns the events of the queues into ops of the log. One replica at a time drains a tenant's queue (a lease), in queue order:
 *
 *     fetch ─▶ append (idempotent by op id) ─▶ ack
 *
 * A crash anywhere leads to a redelivery, which the append answers with the old seq.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #batches: BatchStore;
  readonly #draining = new Map<string, Promise<void>>();
  /** Shared by everybody who waits. */
  #nextLook: Promise<bigint> | undefined;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#batches = new BatchStore(options);
  }

  /** Drains every queue until `signal` aborts; finishes the batch it is in. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#lookForQueues(signal);
      await this.#options.sleeper.sleep(QUEUES_LOOK_MS, signal);
    }
    await Promise.all(this.#draining.values());
  }

  /** Events that have not become ops yet, over all tenants. */
  async pending(): Promise<bigint> {
    let total = 0n;
    for (const tenant of await this.#options.broker.queues()) {
      const consumer = await this.#options.broker.consume(tenant, CONSUMER);
      try {
        total += await consumer.pending();
      } finally {
        await consumer.close();
      }
    }
    return total;
  }

  /** Waits until nothing is pending, at most `waitMs` and one look; answers what is pending then. Any number of callers costs one look. */
  async waitUntilIdle(waitMs: number, signal: AbortSignal): Promise<bigint> {
    const { clock } = this.#options;
    const endsAtMs = clock.monotonic() + waitMs;
    for (let pending = await this.pending(); ; pending = await this.#lookAgain(signal)) {
      if (pending === 0n || clock.monotonic() >= endsAtMs || signal.aborted) return pending;
    }
  }

  #lookAgain(signal: AbortSignal): Promise<bigint> {
    this.#nextLook ??= (async () => {
      await this.#options.sleeper.sleep(PENDING_LOOK_MS, signal);
      this.#nextLook = undefined;
      return this.pending();
    })();
    return this.#nextLook;
  }

  async #lookForQueues(signal: AbortSignal): Promise<void> {
    try {
      for (const tenant of await this.#options.broker.queues()) {
        if (this.#draining.has(tenant)) continue;
        const drained = this.#drainWhileLeased(tenant, signal).finally(() => this.#draining.delete(tenant));
        this.#draining.set(tenant, drained);
      }
    } catch (error) {
      this.#options.log.warn({ error: asFault(error).message }, 'cannot list the queues');
    }
  }

  /** One term of the lease; ends when the lease is lost, the broker fails, or the signal aborts. Never rejects. */
  async #drainWhileLeased(tenant: string, signal: AbortSignal): Promise<void> {
    const { broker, log, owner } = this.#options;
    try {
      const lease = await broker.acquireLease(`intake/${tenant}`, owner, LEASE_MS);
      if (lease === null) return;
      const consumer = await broker.consume(tenant, CONSUMER);
      try {
        await this.#drain(consumer, new HeldLease(lease, this.#options.clock), signal);
      } finally {
        await consumer.close();
        await lease.release();
      }
    } catch (error) {
      log.warn({ tenant, error: asFault(error).message }, 'intake interrupted');
    }
  }

  async #drain(consumer: Consumer, lease: HeldLease, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await lease.held())) {
      const deliveries = await consumer.fetch(BATCH_MAX, FETCH_WAIT_MS, signal);
      if (deliveries.length === 0) continue;
      const stored = await this.#batches.store(deliveries, consumer, () => lease.held(), signal);
      if (!stored) return;
      await consumer.ack(deliveries);
    }
  }
}

/** Renews a lease when a third of its time has gone; asks nothing in between. */
class HeldLease {
  readonly #lease: Lease;
  readonly #clock: Clock;
  #renewAtMs: number;

  constructor(lease: Lease, clock: Clock) {
    this.#lease = lease;
    this.#clock = clock;
    this.#renewAtMs = clock.monotonic() + RENEW_MS;
  }

  async held(): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (now < this.#renewAtMs) return true;
    this.#renewAtMs = now + RENEW_MS;
    return this.#lease.renew();
  }
}
