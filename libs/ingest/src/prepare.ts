import type { DedupeKey } from '@tidemark/libs-dedupe-contract';
import { Fault } from '@tidemark/libs-kernel';
import { type IdText, JsonObject, encodeEvent, idText, idempotencyKey, readJson } from '@tidemark/libs-wire';
import type { RawRecord } from './decode.ts';
import { type Field, findIn } from './field.ts';
import { type Permit, additions, denial } from './permission.ts';
import type { Publishable } from './publish.ts';
import { type Edit, editedValue, rewrite } from './rewrite.ts';
import type { TableSettings } from './tables.ts';
import { canonicalTime } from './timestamp.ts';

/** A record that is ready for the queue. Without an id both keys are null: it is not deduplicated. */
export interface Ready extends Publishable {
  readonly kind: 'ready';
  readonly key: DedupeKey | null;
}

/** Why records are refused, as it is counted: no JSON, no object, against the schema, a column or check of the grant, a member given twice, an id or entity that is none, no id, too large. */
export const REJECT_REASONS = [
  'json',
  'shape',
  'schema',
  'column',
  'check',
  'repeated',
  'id',
  'entity',
  'missing_id',
  'too_large',
] as const;
export type RejectReason = (typeof REJECT_REASONS)[number];

/** A record refused for what it is; it never claims its id. */
export interface Rejected {
  readonly kind: 'rejected';
  readonly reason: RejectReason;
  readonly status: number;
  readonly error: string;
}

export type Prepared = Ready | Rejected;

/** What all records of a request share. */
export interface PrepareContext {
  readonly tenant: string;
  readonly table: TableSettings;
  readonly permit: Permit;
  /** RFC 3339, UTC. */
  readonly receivedTimestamp: string;
  /** The trace that the events continue; absent: none. */
  readonly traceparent?: string | undefined;
  /** Largest message that the queue accepts. */
  readonly bodyBytesMax: number;
}

/**
 * Reads one record and makes its event, all before any claim is made (ING-4): whatever is wrong with a record is found while nothing is
 * held. In this order: its table's schema, the sender's permit, times in one spelling, its id, the event. The record's text goes into
 * the event as it was received, but for the values that a rule changed or added.
 */
export function prepare(raw: RawRecord, context: PrepareContext): Prepared {
  if (raw.kind === 'unreadable') return reject('json', raw.error);
  const text = raw.text.trim();
  // An event is larger than its text. Judging such a record would be work for nothing.
  if (text.length > context.bodyBytesMax) return tooLarge(Buffer.byteLength(text), context);
  const record = readRecord(raw.text);
  return record instanceof JsonObject ? prepareRecord(record, text, context) : record;
}

function readRecord(text: string): JsonObject | Rejected {
  try {
    const value = readJson(text);
    return value instanceof JsonObject ? value : reject('shape', 'a record must be a json object');
  } catch (thrown) {
    if (thrown instanceof Fault) return reject('json', thrown.message);
    throw thrown;
  }
}

function prepareRecord(record: JsonObject, text: string, context: PrepareContext): Prepared {
  const { table, permit } = context;
  const added = additions(record, permit);
  const misfit = table.schema?.judge(record, added) ?? null;
  if (misfit !== null) return reject(misfit.kind, misfit.error);
  const denied = denial(record, permit);
  if (denied !== null) return reject(denied.kind, denied.error, 403);
  const times = canonicalTimes(record, table);
  if (!Array.isArray(times)) return times;
  const edits = [...times, ...added];
  const id = readId(record, edits, table);
  if (typeof id === 'object' && id !== null) return id;
  const entity = readEntity(record, edits, table);
  if (typeof entity === 'object' && entity !== null) return entity;
  return encode(id, entity, edits.length === 0 ? text : rewrite(text, times, added), context);
}

/** A value that names no moment is left for whoever stores it to judge. */
function canonicalTimes(record: JsonObject, { timestamps }: TableSettings): Edit[] | Rejected {
  const edits: Edit[] = [];
  for (const field of timestamps) {
    const found = findIn(record, field);
    if (found.kind === 'repeated') return reject('repeated', `timestamp field ${named(field)} is given twice`);
    const time = found.kind === 'value' ? canonicalTime(found.value, field.epoch) : null;
    if (time !== null && found.kind === 'value' && time !== found.value) edits.push({ field, value: time });
  }
  return edits;
}

/** The id's text, null for none. A field given twice names two ids, and no reader agrees on which one counts. */
function readId(record: JsonObject, edits: readonly Edit[], table: TableSettings): string | null | Rejected {
  const where = `dedupe id field ${named(table.idField)}`;
  const id = textAt(record, edits, table.idField);
  if (id.kind === 'repeated') return reject('repeated', `${where} is given twice`);
  if (id.kind === 'refused') return reject('id', `${where}: ${id.reason}`);
  if (id.kind === 'id') return id.text;
  return table.requireId ? reject('missing_id', `missing ${where}`) : null;
}

/** What the record is about; null when that is its id. */
function readEntity(record: JsonObject, edits: readonly Edit[], { entity }: TableSettings): string | null | Rejected {
  if (entity === null) return null;
  const text = textAt(record, edits, entity);
  if (text.kind === 'repeated') return reject('repeated', `entity field ${named(entity)} is given twice`);
  if (text.kind === 'refused')
    return reject('entity', `entity field ${named(entity)}: an object or array names nothing`);
  return text.kind === 'id' ? text.text : null;
}

function textAt(record: JsonObject, edits: readonly Edit[], field: Field): IdText | { readonly kind: 'repeated' } {
  const edited = editedValue(edits, field);
  if (edited !== undefined) return idText(edited);
  const found = findIn(record, field);
  return found.kind === 'repeated' ? found : idText(found.kind === 'value' ? found.value : null);
}

function encode(id: string | null, entity: string | null, data: string, context: PrepareContext): Prepared {
  const { table, receivedTimestamp, traceparent, bodyBytesMax } = context;
  const event = encodeEvent({
    table: table.name,
    receivedTimestamp,
    id,
    entity,
    ...(traceparent !== undefined && { traceparent }),
    data,
  });
  if (event.length > bodyBytesMax) return tooLarge(event.length, context);
  return { kind: 'ready', body: event, ...keysOf(id, context) };
}

function tooLarge(bytes: number, { bodyBytesMax }: PrepareContext): Rejected {
  const error = `the record's event of ${bytes} bytes exceeds the queue's limit of ${bodyBytesMax}`;
  return reject('too_large', error, 413);
}

function keysOf(id: string | null, { tenant, table }: PrepareContext): Pick<Ready, 'key' | 'idempotencyKey'> {
  if (id === null) return { key: null, idempotencyKey: null };
  return { key: { tenant, table: table.name, id }, idempotencyKey: idempotencyKey(tenant, table.name, id) };
}

const named = ({ text }: Field): string => JSON.stringify(text);

const reject = (reason: RejectReason, error: string, status = 400): Rejected => ({
  kind: 'rejected',
  reason,
  status,
  error,
});
