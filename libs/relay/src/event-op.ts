import type { Delivery } from '@tidemark/libs-broker-contract';
import { DOCUMENT_NAME_BYTES_MAX } from '@tidemark/libs-kernel';
import { type Op, decodeEvent, streamName, tracedExtra } from '@tidemark/libs-wire';

export interface EventOp {
  readonly stream: string;
  readonly op: Op;
}

/**
 * The op that an event of the queue becomes. Equal for every redelivery of the event, so that the append's idempotence by op id
 * absorbs them: op id = the idempotency key, or for a keyless event the queue's name and the event's seq in it.
 * The event's trace goes on in the op's member `traceparent`, which the event has as well, so it too is equal.
 * lamport = the broker's seq, so that the last event of a document in queue order wins.
 * An id too long to name a document leaves that to the op id: the event is kept whole, and its document can be asked for.
 * Faults: `malformed`, `invalid` for a body that is no event envelope (the intake parks it).
 */
export function eventOp(delivery: Omit<Delivery, 'attempt'>): EventOp {
  const event = decodeEvent(delivery.body);
  const opId = delivery.idempotencyKey ?? `${delivery.queue}:${delivery.seq}`;
  return {
    stream: streamName(delivery.topic.tenant, delivery.topic.table),
    op: {
      envelopeVersion: 1,
      opId,
      lamport: delivery.seq,
      site: 0n,
      domain: 'event',
      targetKind: delivery.topic.table,
      targetId: documentId(event.entity ?? event.id) ?? opId,
      field: 'body',
      opType: 'set',
      value: event.data,
      author: '',
      wallClock: event.receivedTimestamp,
      extra: tracedExtra(event.traceparent),
    },
  };
}

function documentId(id: string | null): string | null {
  return id !== null && Buffer.byteLength(id) <= DOCUMENT_NAME_BYTES_MAX ? id : null;
}
