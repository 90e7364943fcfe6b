import type { Delivery } from '@tidemark/libs-broker-contract';
import { Fault } from '@tidemark/libs-kernel';
import type { Msg } from 'nats';
import { keyOf } from './headers.ts';
import type { Names } from './names.ts';
import type { Queue } from './queues.ts';

/** Which queue gave it. */
export type Incarnation = Pick<Queue, 'name' | 'base'>;

/** A delivery with what the server wants to hear about it. The member goes along when somebody copies it. */
export const ACK_SUBJECT = Symbol('ack subject');

export interface AckableDelivery extends Delivery {
  readonly [ACK_SUBJECT]: string;
}

/** Names of the parts of `$JS.ACK.<stream>.<consumer>.<attempt>.<seq>.<n>.<time>.<pending>`, from its end: newer servers put more before. */
const FROM_END = { attempt: 5, seq: 4, time: 2 };
const NEW_FORM_LENGTH = 11;
const NS_PER_MS = 1_000_000n;

export function deliveryOf(message: Msg, tenant: string, { name, base }: Incarnation, names: Names): AckableDelivery {
  const subject = message.reply ?? '';
  return {
    topic: { tenant, table: names.tableOf(message.subject) },
    queue: name,
    seq: base + numberOf(subject),
    body: message.data,
    idempotencyKey: keyOf(message.headers),
    attempt: Number(partOf(subject, FROM_END.attempt)),
    [ACK_SUBJECT]: subject,
  };
}

export function ackSubjectOf(delivery: Delivery): string {
  const subject = (delivery as Partial<AckableDelivery>)[ACK_SUBJECT];
  if (subject === undefined) throw new Fault('internal', 'a delivery of another broker');
  return subject;
}

/** The server's number of the message. */
export function serverSeq(delivery: Delivery): bigint {
  return numberOf(ackSubjectOf(delivery));
}

/** When the server stored it, by its clock. */
export function storedAtMs(delivery: Delivery): number {
  return Number(BigInt(partOf(ackSubjectOf(delivery), FROM_END.time)) / NS_PER_MS);
}

function numberOf(ackSubject: string): bigint {
  return BigInt(partOf(ackSubject, FROM_END.seq));
}

function partOf(subject: string, fromEnd: number): string {
  const parts = subject.split('.');
  // The long form has a random part at its end.
  const last = parts.length > NEW_FORM_LENGTH ? NEW_FORM_LENGTH : parts.length;
  return parts[last - fromEnd] ?? '0';
}
