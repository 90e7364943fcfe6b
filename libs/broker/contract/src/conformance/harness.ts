import { deepEqual, equal, fail, ok } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { Broker, Consumer, Delivery, PublishOutcome } from '../broker.ts';

/** An empty broker. Whoever runs a case closes what the case left open. */
export interface BrokerHarness {
  /** Another process on the same queues. */
  open(): Promise<Broker>;
  /** Lets so much time pass for every open broker, and lets run what that woke. */
  pass(ms: number): Promise<void>;
}

export type BrokerCase = ConformanceCase<BrokerHarness>;

export const TENANT = 'acme';
export const TOPIC = { tenant: TENANT, table: 'clicks' };
export const QUEUE_BYTES = 1_000_000n;
/** Times are compared with a fifth to spare, for brokers whose time is real. */
export const ACK_WAIT_MS = 1000;

export interface Started {
  readonly broker: Broker;
  readonly worker: Consumer;
}

/** A broker with one queue, and its consumer from the start. */
export async function start(harness: BrokerHarness, bytesMax = QUEUE_BYTES, tenant = TENANT): Promise<Started> {
  const broker = await harness.open();
  await broker.openQueue(tenant, bytesMax);
  return { broker, worker: await join(broker, 'worker', tenant) };
}

export function join(broker: Broker, name = 'worker', tenant = TENANT): Promise<Consumer> {
  return broker.consume(tenant, { name, ackWaitMs: ACK_WAIT_MS });
}

export function tell(broker: Broker, text: string, idempotencyKey?: string, topic = TOPIC): Promise<PublishOutcome> {
  return broker.publish(topic, Buffer.from(text), idempotencyKey === undefined ? {} : { idempotencyKey });
}

export async function store(broker: Broker, text: string, idempotencyKey?: string, topic = TOPIC): Promise<bigint> {
  const outcome = await tell(broker, text, idempotencyKey, topic);
  ok(outcome.kind === 'stored', `${text} is stored, not ${outcome.kind}`);
  return outcome.seq;
}

export async function expectKind(kind: PublishOutcome['kind'], telling: Promise<PublishOutcome>): Promise<void> {
  equal((await telling).kind, kind);
}

/** What can be fetched at once. */
export function take(consumer: Consumer, max = 1000): Promise<readonly Delivery[]> {
  return consumer.fetch(max, 0);
}

export async function takeOne(consumer: Consumer): Promise<Delivery> {
  const [delivery, ...more] = await take(consumer);
  ok(delivery && more.length === 0, 'exactly one delivery');
  return delivery;
}

export function textOf({ body }: { readonly body: Uint8Array }): string {
  return Buffer.from(body).toString();
}

/** The deliveries are these, in any order: order is the matter of one case. */
export function expectTexts(deliveries: readonly Delivery[], ...texts: readonly string[]): void {
  deepEqual(deliveries.map(textOf).sort(), [...texts].sort());
}

/** As many messages of a kilobyte as the queue takes. */
export async function fill(broker: Broker): Promise<string[]> {
  const stored: string[] = [];
  while (stored.length < 100) {
    const text = `${stored.length} `.padEnd(1000, '.');
    const { kind } = await tell(broker, text);
    if (kind !== 'stored') {
      equal(kind, 'full');
      return stored;
    }
    stored.push(text);
  }
  return fail('the queue never gets full');
}

/** Lets time pass until the promise has an end, at most `ms`. */
export async function within<T>(harness: BrokerHarness, ms: number, promise: Promise<T>): Promise<T> {
  let ended = false;
  const end = () => (ended = true);
  void promise.then(end, end);
  for (let passedMs = 0; passedMs < ms && !ended; passedMs += 50) await harness.pass(50);
  ok(ended, `no answer within ${ms} ms`);
  return promise;
}
