/** Where an event goes. Any strings; an adapter escapes them. An empty tenant is refused, never defaulted. */
export interface Topic {
  readonly tenant: string;
  readonly table: string;
}

/**
 * What is known after a publish.
 * `stored`: durable in the queue. `duplicate`: a repeat of an idempotency key inside the duplicate window; the first copy is stored; a success.
 * `full`, `too_large`: certainly refused, nothing stored. `unavailable`, `unknown`: may have been stored.
 */
export type PublishOutcome =
  | { readonly kind: 'stored' | 'duplicate'; readonly seq: bigint }
  | { readonly kind: 'full' | 'too_large'; readonly detail: string }
  | { readonly kind: 'unavailable' | 'unknown'; readonly detail: string };

export interface PublishOptions {
  /** A repeat inside the duplicate window is dropped and reported as `duplicate` (BRK-2). */
  readonly idempotencyKey?: string;
}

export interface Delivery {
  readonly topic: Topic;
  /** Name of the queue that stored it: with `seq` it identifies the message for ever (a seq is never given twice). */
  readonly queue: string;
  readonly seq: bigint;
  readonly body: Uint8Array;
  readonly idempotencyKey: string | null;
  /** 1 for the first delivery. */
  readonly attempt: number;
}

export interface DeadLetter extends Omit<Delivery, 'attempt'> {
  /** Place among the tenant's dead letters. */
  readonly id: bigint;
  readonly reason: string;
  /** Wall clock, ms. */
  readonly parkedAtMs: number;
}

export interface QueueStats {
  /** Messages stored and not yet settled by every durable consumer. */
  readonly messages: bigint;
  readonly bytes: bigint;
  readonly bytesMax: bigint;
  readonly deadLetters: bigint;
}

export interface ConsumerOptions {
  /** Durable: its place survives restarts; two consumers with one name share the work. */
  readonly name: string;
  /** A delivery neither acked nor naked within this time is delivered again. */
  readonly ackWaitMs: number;
}

/** A durable consumer of one tenant's queue, explicit ack, at least once, in queue order for first deliveries (BRK-5). */
export interface Consumer {
  /** Up to `max` deliveries, oldest first; waits up to `waitMs` for the first one; empty when there is none or `signal` aborts. */
  fetch(max: number, waitMs: number, signal?: AbortSignal): Promise<readonly Delivery[]>;
  /** Durable when it resolves. Idempotent. */
  ack(deliveries: readonly Delivery[]): Promise<void>;
  /** Hands them back: delivered again after `delayMs`. */
  nak(deliveries: readonly Delivery[], delayMs: number): Promise<void>;
  /** Stores the body with the reason among the dead letters; does not ack: the caller acks after this resolved. */
  deadLetter(delivery: Delivery, reason: string): Promise<void>;
  /** Messages of the queue that this consumer has not acked. */
  pending(): Promise<bigint>;
  close(): Promise<void>;
}

/** A lease on a name, held by one owner at a time across every process that shares the broker. */
export interface Lease {
  /** True while the lease is still held; then it runs for its full time again. False: it was lost, act on it no more. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/** Faults: `unavailable`, `disk_full`, `misconfigured`, `corrupt`, `internal`. Publish returns its uncertainty as a value instead. */
export interface Broker {
  /** How long a repeated idempotency key is dropped, counted from the stored publish. */
  readonly duplicateWindowMs: number;
  /** Largest body that publish accepts. */
  readonly bodyBytesMax: number;

  /** Creates or resizes the tenant's queue. A smaller budget never drops what is stored. Durable. */
  openQueue(tenant: string, bytesMax: bigint): Promise<void>;
  /** Tenants that have a queue, in UTF-8 order. */
  queues(): Promise<readonly string[]>;

  /**
   * Appends to the tenant's queue; a resolved `stored` is on disk (BRK-4). Publishes of one caller keep their order, also when several
   * are in flight together. A full queue refuses the new and keeps the old (BRK-3). A tenant without an open queue is `full`.
   */
  publish(topic: Topic, body: Uint8Array, options?: PublishOptions): Promise<PublishOutcome>;

  consume(tenant: string, options: ConsumerOptions): Promise<Consumer>;
  stats(tenant: string): Promise<QueueStats>;
  /** Dead letters with id > after, oldest first. */
  deadLetters(tenant: string, after: bigint, limit: number): Promise<readonly DeadLetter[]>;

  /** The lease, or null while another owner holds it. An abandoned lease is free after ttlMs. */
  acquireLease(name: string, owner: string, ttlMs: number): Promise<Lease | null>;

  ping(): Promise<void>;
  close(): Promise<void>;
}
