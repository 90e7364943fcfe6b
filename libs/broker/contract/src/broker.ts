/**
 * Where an event goes. Any well-formed strings; an adapter escapes them. An empty tenant is refused, never defaulted: every call
 * that gets one rejects with a fault `invalid`, as for a string that has no UTF-8 form.
 */
export interface Topic {
  readonly tenant: string;
  readonly table: string;
}

/**
 * What is known after a publish.
 * `stored`: durable in the queue. `duplicate`: a repeat of an idempotency key inside the duplicate window; the first copy was stored
 * (under `seq`) and may have been acked since; a success.
 * `full`, `too_large`: certainly refused, nothing stored. `unavailable`, `unknown`: may have been stored.
 */
export type PublishOutcome =
  | { readonly kind: 'stored' | 'duplicate'; readonly seq: bigint }
  | { readonly kind: 'full' | 'too_large'; readonly detail: string }
  | { readonly kind: 'unavailable' | 'unknown'; readonly detail: string };

export interface PublishOptions {
  /**
   * A repeat in the same tenant's queue inside the duplicate window is dropped and reported as `duplicate` (BRK-2), also when the queue is
   * full by then. A refused publish does not use its key up. The empty key is refused (`invalid`).
   */
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
  /** Place among the tenant's dead letters; rises. */
  readonly id: bigint;
  readonly reason: string;
  /** Wall clock, ms. */
  readonly parkedAtMs: number;
}

export interface QueueStats {
  /** Messages stored and not yet settled by every durable consumer. */
  readonly messages: bigint;
  /** What counts against bytesMax: bodies, and what the broker keeps beside them. */
  readonly bytes: bigint;
  readonly bytesMax: bigint;
  readonly deadLetters: bigint;
  /** How long the oldest of these messages has been stored; 0 when there is none. Between hosts as exact as their clocks. */
  readonly oldestAgeMs: number;
}

/** What is otherwise about the queues than it must be. */
export interface QueueFinding {
  /** Null: it is of what all tenants share. */
  readonly tenant: string | null;
  /** In words for an operator. */
  readonly detail: string;
  /** It was put right by the look that found it. */
  readonly mended: boolean;
}

export interface ConsumerOptions {
  /** Durable: its place survives restarts; two consumers with one name share the work. A new name begins at the oldest stored message. */
  readonly name: string;
  /** A delivery neither acked nor naked within this time is delivered again. */
  readonly ackWaitMs: number;
}

/**
 * A durable consumer of one tenant's queue, explicit ack, at least once, in queue order for first deliveries (BRK-5). A message is
 * removed when every durable consumer of the queue has acked it; a queue without consumers keeps all.
 *
 *     publish ─▶ stored ──fetch──▶ in flight ──ack──▶ settled, never delivered again
 *                  ▲                   │
 *                  └── nak's delay, or ackWaitMs without a word (a crash): attempt + 1
 */
export interface Consumer {
  /**
   * Up to `max` deliveries, oldest first; waits up to `waitMs` for the first one; empty when there is none, `signal` aborts or the
   * consumer is closed meanwhile (a closed one rejects with `unavailable`). May give fewer than there are, to bound memory.
   */
  fetch(max: number, waitMs: number, signal?: AbortSignal): Promise<readonly Delivery[]>;
  /** Durable when it resolves. Idempotent; also right for a delivery that was given to somebody else meanwhile. */
  ack(deliveries: readonly Delivery[]): Promise<void>;
  /** Hands them back: delivered again after `delayMs`. */
  nak(deliveries: readonly Delivery[], delayMs: number): Promise<void>;
  /** Stores the body with the reason among the dead letters; does not ack: the caller acks after this resolved. */
  deadLetter(delivery: Delivery, reason: string): Promise<void>;
  /** Messages of the queue that this consumer has not acked. */
  pending(): Promise<bigint>;
  /** What it has in flight is delivered again after the ack wait. */
  close(): Promise<void>;
}

/** A lease on a name, held by one owner at a time across every process that shares the broker. */
export interface Lease {
  /** True while the lease is still held; then it runs for its full time again. False: it was lost, act on it no more. */
  renew(): Promise<boolean>;
  /** Frees a lease still held; one that was lost is left to its new owner. */
  release(): Promise<void>;
}

/** Listening for notifications; ended by close. */
export interface NotificationWatch {
  /** Nothing is heard after the call. Twice is fine. */
  close(): Promise<void>;
}

/**
 * Faults: `unavailable`, `disk_full`, `misconfigured`, `corrupt`, `internal`; `not_found` for a tenant without a queue (publish says
 * `full` instead); `invalid` for a name that is refused. Publish returns its uncertainty as a value.
 */
export interface Broker {
  /** How long a repeated idempotency key is dropped, counted from the stored publish. */
  readonly duplicateWindowMs: number;
  /** Largest body that publish accepts. */
  readonly bodyBytesMax: number;

  /** Creates or resizes the tenant's queue. A smaller budget never drops what is stored. Durable. */
  openQueue(tenant: string, bytesMax: bigint): Promise<void>;
  /**
   * Whether the queues that this process opened still are what they must be (ING-6): where others can change or delete them, a promise of
   * theirs, such as the duplicate window, may hold no more. Puts right what is ours to change, and tells all that it found.
   */
  verifyQueues(): Promise<readonly QueueFinding[]>;
  /** Tenants that have a queue, in UTF-8 order. */
  queues(): Promise<readonly string[]>;

  /**
   * Appends to the tenant's queue; a resolved `stored` is on disk (BRK-4). Publishes of one caller keep their order, also when several
   * are in flight together. A full queue refuses the new and keeps the old (BRK-3). A tenant without an open queue is `full`.
   * `body` must not be changed before it resolves.
   */
  publish(topic: Topic, body: Uint8Array, options?: PublishOptions): Promise<PublishOutcome>;

  consume(tenant: string, options: ConsumerOptions): Promise<Consumer>;
  stats(tenant: string): Promise<QueueStats>;
  /** Dead letters with id > after, oldest first. */
  deadLetters(tenant: string, after: bigint, limit: number): Promise<readonly DeadLetter[]>;
  /** For an operator, after a replay (publish, then remove). False when it is not there. Durable. */
  removeDeadLetter(tenant: string, id: bigint): Promise<boolean>;

  /** The lease, or null while another owner holds it. The same owner gets it anew. An abandoned lease is free after ttlMs. */
  acquireLease(name: string, owner: string, ttlMs: number): Promise<Lease | null>;

  /**
   * Tells every other process that listens to the topic; its own listeners hear nothing. A hint: each hears it at most once, soon, in
   * the order of the calls, or never. Not stored: who listens later does not hear it. Equal ones of one turn of the event loop are told
   * once. Never throws: what is lost (nobody can be reached, too much waits, longer than NOTIFICATION_BYTES_MAX, no UTF-8 form, a
   * closed broker) is lost in silence.
   */
  notify(topic: string, detail: string): void;
  /**
   * Hears what others notify of the topic from when this resolves until it is closed, or the broker is. `listener` must not throw.
   * Fault `unavailable` where nothing can be heard: look yourself then.
   */
  onNotify(topic: string, listener: (detail: string) => void): Promise<NotificationWatch>;

  ping(): Promise<void>;
  /** Finishes the writes that wait, ends waiting fetches, then closes. Twice is fine. */
  close(): Promise<void>;
}
