import { Fault } from '@tidemark/libs-kernel';
import type { PublishOptions, PublishOutcome, Topic } from './broker.ts';

/** Every adapter refuses the same names, before it looks at anything stored. */
export function checkTenant(tenant: string): void {
  if (tenant === '') throw new Fault('invalid', 'a topic without a tenant');
  checkWellFormed(tenant, 'tenant');
}

export function checkPublish(topic: Topic, options: PublishOptions): void {
  checkTenant(topic.tenant);
  checkWellFormed(topic.table, 'table');
  const key = options.idempotencyKey;
  if (key === undefined) return;
  // Messages of an empty key would all be repeats of the first: lost.
  if (key === '') throw new Fault('invalid', 'an empty idempotency key');
  checkWellFormed(key, 'idempotency key');
}

export function checkWellFormed(text: string, what: string): void {
  if (!text.isWellFormed()) throw new Fault('invalid', `${what} with a lone surrogate`);
}

export function tooLarge(body: Uint8Array, bodyBytesMax: number): PublishOutcome | undefined {
  if (body.byteLength <= bodyBytesMax) return undefined;
  return { kind: 'too_large', detail: `body of ${body.byteLength} bytes, the queue takes ${bodyBytesMax}` };
}

/** Bytes in which a broker keeps what a message is found by, beside its strings: so that empty bodies fill a queue too. */
const MESSAGE_OVERHEAD_BYTES = 64;

/** What a message counts in its queue's budget, where the adapter does the counting itself. */
export function budgetBytes(...parts: readonly (string | Uint8Array | null)[]): bigint {
  const bytes = (part: string | Uint8Array | null) => (part === null ? 0 : Buffer.byteLength(part));
  return BigInt(parts.reduce((total, part) => total + bytes(part), MESSAGE_OVERHEAD_BYTES));
}

/** Largest body where nothing else is configured: as much as other brokers take by default. */
export const BODY_BYTES_MAX_DEFAULT = 1_048_576;

/** Topic and detail of a notification together, in UTF-8. A stream's name of 4096 characters fits. */
export const NOTIFICATION_BYTES_MAX = 16_384;

/** Whether a notification can be told at all. */
export function isTellable(topic: string, detail: string): boolean {
  if (!topic.isWellFormed() || !detail.isWellFormed()) return false;
  return Buffer.byteLength(topic) + Buffer.byteLength(detail) <= NOTIFICATION_BYTES_MAX;
}
