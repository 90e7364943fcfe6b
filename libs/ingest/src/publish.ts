import type { Broker, PublishOptions, PublishOutcome, Topic } from '@tidemark/libs-broker-contract';
import type { Sent } from './settle.ts';

/** One event on its way to the queue. */
export interface Publishable {
  readonly body: Uint8Array;
  /** Null for a record without id: nothing can recognise its repeat. */
  readonly idempotencyKey: string | null;
}

export interface PublishRules {
  /** Publishes that may wait for their answer together; 1 = one by one. */
  readonly inFlightMax: number;
  /** Asked before each publish; false: what is left stays unsent. */
  readonly maySend: () => boolean;
}

/** Every outcome in record order. `unknown` also for a broker that throws: the event may be stored. */
export interface Publication {
  readonly sent: readonly Sent[];
  /** What the broker said about the first publish that ended the window; null when none did. */
  readonly detail: string | null;
}

/**
 * Hands the events to the broker in their order, without waiting for one before the next is sent. Once an outcome is known that ends the
 * window, nothing more is sent; what was sent is waited for. Never rejects.
 */
export async function publishAll(
  events: readonly Publishable[],
  topic: Topic,
  broker: Pick<Broker, 'publish'>,
  rules: PublishRules,
): Promise<Publication> {
  const pending: Promise<PublishOutcome>[] = [];
  let ended = false;
  for (const [position, event] of events.entries()) {
    // Order makes this enough: when the publish `inFlightMax` places back has an answer, fewer than that wait.
    if (position >= rules.inFlightMax) await pending[position - rules.inFlightMax];
    if (ended || !rules.maySend()) break;
    const outcome = publishOne(event, topic, broker);
    pending.push(outcome);
    void outcome.then(({ kind }) => (ended ||= ENDS_WINDOW.has(kind)));
  }
  const outcomes = await Promise.all(pending);
  const failed = outcomes.find(({ kind }) => ENDS_WINDOW.has(kind));
  return {
    sent: events.map((_, position) => outcomes[position]?.kind ?? 'not_sent'),
    detail: failed !== undefined && 'detail' in failed ? failed.detail : null,
  };
}

/** A record that is too large fails alone; whatever else keeps an event out of the queue would meet the next one too. */
const ENDS_WINDOW: ReadonlySet<PublishOutcome['kind']> = new Set(['full', 'unavailable', 'unknown'] as const);

async function publishOne(event: Publishable, topic: Topic, broker: Pick<Broker, 'publish'>): Promise<PublishOutcome> {
  const options: PublishOptions = event.idempotencyKey === null ? {} : { idempotencyKey: event.idempotencyKey };
  try {
    return await broker.publish(topic, event.body, options);
  } catch (thrown) {
    return { kind: 'unknown', detail: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}
