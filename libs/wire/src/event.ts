import { Fault } from '@tidemark/libs-kernel';
import { readFields, requiredField, textField } from './fields.ts';
import { quoteJson } from './json-write.ts';
import { isTraceparent } from './op-trace.ts';

/** One ingested record as it travels through the broker. */
export interface EventEnvelope {
  readonly table: string;
  /** RFC 3339, UTC: when the request arrived. */
  readonly receivedTimestamp: string;
  /** The dedupe id's text, null when the record has none. */
  readonly id: string | null;
  /** What the record is about, null when that is its id. */
  readonly entity: string | null;
  /** The W3C traceparent of the request that brought it; absent when nobody follows that trace. */
  readonly traceparent?: string;
  /** The record's JSON text exactly as received. */
  readonly data: string;
}

const utf8 = new TextEncoder();

/** The message body. `data` is written as it stands: the caller has read it as JSON. */
export function encodeEvent(event: EventEnvelope): Uint8Array {
  const id = event.id === null ? '' : `"id":${quoteJson(event.id)},`;
  const entity = event.entity === null ? '' : `"entity":${quoteJson(event.entity)},`;
  const trace = event.traceparent === undefined ? '' : `"traceparent":${quoteJson(event.traceparent)},`;
  const head = `{"table_name":${quoteJson(event.table)},"received_timestamp":${quoteJson(event.receivedTimestamp)}`;
  return utf8.encode(`${head},${id}${entity}${trace}"data":${event.data}}`);
}

/** 'malformed' when the body is no JSON, 'invalid' when it is no envelope. Unknown members are ignored, and so is a traceparent that is none. */
export function decodeEvent(body: Uint8Array): EventEnvelope {
  const fields = readFields(body, ['table_name', 'received_timestamp', 'id', 'entity', 'traceparent', 'data']);
  const data = requiredField(fields, 'data');
  if (!data.startsWith('{')) throw new Fault('invalid', 'data: expected an object');
  const traceparent = fields.get('traceparent')?.slice(1, -1) ?? '';
  return {
    table: textField(fields, 'table_name'),
    receivedTimestamp: textField(fields, 'received_timestamp'),
    id: fields.has('id') ? textField(fields, 'id') : null,
    entity: fields.has('entity') ? textField(fields, 'entity') : null,
    ...(isTraceparent(traceparent) && { traceparent }),
    data,
  };
}
