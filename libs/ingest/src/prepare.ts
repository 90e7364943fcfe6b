import type { DedupeKey } from '@tidemark/libs-dedupe-contract';
import { Fault } from '@tidemark/libs-kernel';
import { JsonObject, encodeEvent, idText, idempotencyKey, readJson } from '@tidemark/libs-wire';
import type { RawRecord } from './decode.ts';
import type { Publishable } from './publish.ts';
import type { TableSettings } from './tables.ts';

/** A record that is ready for the queue. Without an id both keys are null: it is not deduplicated. */
export interface Ready extends Publishable {
  readonly kind: 'ready';
  readonly key: DedupeKey | null;
}

/** A record refused for what it is; it never claims its id. */
export interface Rejected {
  readonly kind: 'rejected';
  readonly status: number;
  readonly error: string;
  readonly missingId: boolean;
}

export type Prepared = Ready | Rejected;

/** What all records of a request share. */
export interface PrepareContext {
  readonly tenant: string;
  readonly table: TableSettings;
  /** RFC 3339, UTC. */
  readonly receivedTimestamp: string;
  /** The trace that the events continue; absent: none. */
  readonly traceparent?: string | undefined;
  /** Largest message that the queue accepts. */
  readonly bodyBytesMax: number;
}

/**
 * Reads one record, resolves its id and encodes its event, all before any claim is made (ING-4): whatever is wrong with a record is found
 * while nothing is held. The record's text goes into the event as it was received.
 */
export function prepare(raw: RawRecord, context: PrepareContext): Prepared {
  if (raw.kind === 'unreadable') return reject(400, raw.error);
  const record = readRecord(raw.text);
  if (!(record instanceof JsonObject)) return record;
  const id = readId(record, context.table);
  if (typeof id === 'object' && id !== null) return id;
  const event = encodeEvent({
    table: context.table.name,
    receivedTimestamp: context.receivedTimestamp,
    id,
    entity: null,
    ...(context.traceparent !== undefined && { traceparent: context.traceparent }),
    data: raw.text.trim(),
  });
  if (event.length > context.bodyBytesMax) {
    return reject(
      413,
      `the record's event of ${event.length} bytes exceeds the queue's limit of ${context.bodyBytesMax}`,
    );
  }
  return { kind: 'ready', body: event, ...keysOf(id, context) };
}

function readRecord(text: string): JsonObject | Rejected {
  try {
    const value = readJson(text);
    return value instanceof JsonObject ? value : reject(400, 'a record must be a json object');
  } catch (thrown) {
    if (thrown instanceof Fault) return reject(400, thrown.message);
    throw thrown;
  }
}

/** The id's text, null for none. A field given twice names two ids, and no reader agrees on which one counts. */
function readId(record: JsonObject, table: TableSettings): string | null | Rejected {
  const field = JSON.stringify(table.idField);
  if (record.repeated.includes(table.idField)) return reject(400, `dedupe id field ${field} is given twice`);
  const id = idText(record.members.get(table.idField) ?? null);
  if (id.kind === 'refused') return reject(400, `dedupe id field ${field}: ${id.reason}`);
  if (id.kind === 'id') return id.text;
  return table.requireId ? { ...reject(400, `missing dedupe id field ${field}`), missingId: true } : null;
}

function keysOf(id: string | null, { tenant, table }: PrepareContext): Pick<Ready, 'key' | 'idempotencyKey'> {
  if (id === null) return { key: null, idempotencyKey: null };
  return { key: { tenant, table: table.name, id }, idempotencyKey: idempotencyKey(tenant, table.name, id) };
}

const reject = (status: number, error: string): Rejected => ({ kind: 'rejected', status, error, missingId: false });
