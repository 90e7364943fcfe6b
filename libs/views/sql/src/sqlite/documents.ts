import { DOCUMENTS_PAGE_BYTES_MAX, type Document, type DocumentPage, type Field } from '@tidemark/libs-views-contract';
import type { Handle } from './open-file.ts';

export interface Documents {
  one(stream: string, kind: string, id: string): Document | null;
  page(stream: string, kind: string, after: string | null, limit: number, bytesMax?: number): DocumentPage;
}

interface Row {
  readonly id: string;
  readonly field: string;
  readonly rank: bigint;
  readonly lamport: bigint;
  readonly site: bigint;
  readonly seq: bigint;
  readonly value: string;
}

/** The epoch is looked up inside the statement, so that a switch of epochs falls before or after the whole answer. */
const SHOWN = `
  SELECT id, field, rank, lamport, site, seq, value FROM fields
  WHERE stream = @stream AND epoch = (SELECT epoch FROM marks WHERE stream = @stream) AND kind = @kind`;

export function prepareDocuments(handle: Handle): Documents {
  const one = handle.prepare<[object], Row>(`${SHOWN} AND id = @id`).safeIntegers();
  const first = handle.prepare<[object], Row>(`${SHOWN} ORDER BY id, field`).safeIntegers();
  const above = handle.prepare<[object], Row>(`${SHOWN} AND id > @after ORDER BY id, field`).safeIntegers();
  return {
    one(stream, kind, id) {
      const rows = one.all({ stream, kind, id });
      return rows.length > 0 ? { kind, id, fields: new Map(rows.map((row) => [row.field, toField(row)])) } : null;
    },
    page(stream, kind, after, limit, bytesMax = DOCUMENTS_PAGE_BYTES_MAX) {
      const rows = after === null ? first.iterate({ stream, kind }) : above.iterate({ stream, kind, after });
      return readPage(rows, kind, limit, bytesMax);
    },
  };
}

/** Takes whole documents off the rows until the page is full; the rows behind it are never read. */
function readPage(rows: Iterable<Row>, kind: string, limit: number, bytesMax: number): DocumentPage {
  const documents: (Document & { fields: Map<string, Field> })[] = [];
  let bytes = 0;
  for (const row of rows) {
    let document = documents.at(-1);
    if (document?.id !== row.id) {
      const isFull = documents.length >= limit || (documents.length > 0 && bytes >= bytesMax);
      if (isFull) return { documents, next: document?.id ?? null };
      document = { kind, id: row.id, fields: new Map() };
      documents.push(document);
    }
    document!.fields.set(row.field, toField(row));
    bytes += Buffer.byteLength(row.value);
  }
  return { documents, next: null };
}

function toField({ rank, lamport, site, seq, value }: Row): Field {
  return { value, version: { rank, lamport, site, seq } };
}
