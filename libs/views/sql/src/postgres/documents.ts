import type { PostgresConnection } from '@tidemark/libs-driver-postgres';
import { DOCUMENTS_PAGE_BYTES_MAX, type Document, type DocumentPage } from '@tidemark/libs-views-contract';
import { type CellRow, PageReader, toDocument } from '../cell-rows.ts';
import { lowest } from './marks.ts';
import { isStorable } from './storable.ts';

const CELL = 'id, field, member, shape, rank, lamport, site, seq, value';
const SHOWN = `(SELECT epoch FROM view_marks WHERE stream = $1 AND role = 'shown')`;

const ONE = `
  SELECT ${CELL} FROM view_cells
  WHERE stream = $1 AND epoch = ${SHOWN} AND kind = $2 AND id = $3 AND value IS NOT NULL`;

/**
 * The next cells, up to a number and to a sum of bytes, but one at least. The length of a large text is known without reading it, so what
 * lies behind the end is neither read nor sent.
 */
const NEXT = (above: string) => `
  SELECT ${CELL} FROM (
    SELECT *, sum(bytes) OVER (ORDER BY id, field, member) AS upto FROM (
      SELECT ${CELL}, octet_length(value)::bigint AS bytes FROM view_cells
      WHERE stream = $1 AND epoch = ${SHOWN} AND kind = $2 AND value IS NOT NULL ${above}
      ORDER BY id, field, member LIMIT $3
    ) cells
  ) summed
  WHERE upto <= $4 OR upto = bytes ORDER BY id, field, member`;

const FROM_START = NEXT('');
const ABOVE_ID = NEXT('AND id > $5');
const ABOVE_CELL = NEXT('AND (id, field, member) > ($5, $6, $7)');

const CELLS_MAX = 1000;

export async function readDocument(
  connection: PostgresConnection,
  stream: string,
  kind: string,
  id: string,
): Promise<Document | null> {
  if (!isStorable(stream, kind, id)) return null;
  const rows = await connection.read<CellTuple>({ text: ONE, values: [stream, kind, id] });
  return toDocument(kind, id, rows.map(toRow));
}

/** One snapshot, read in steps: a small page is one of them. */
export async function readPage(
  connection: PostgresConnection,
  stream: string,
  kind: string,
  after: string | null,
  limit: number,
  bytesMax = DOCUMENTS_PAGE_BYTES_MAX,
): Promise<DocumentPage> {
  const reader = new PageReader({ kind, limit, bytesMax });
  if (!isStorable(stream, kind)) return reader.page(true);
  // A few members to a document, and the first of the document behind the page.
  const cellsMax = Math.min(4 * limit + 1, CELLS_MAX);
  const start = [stream, kind, cellsMax, bytesMax];
  return connection.snapshot(async (ask) => {
    let step =
      after === null ? { text: FROM_START, values: start } : { text: ABOVE_ID, values: [...start, lowest(after)] };
    for (;;) {
      const rows = (await ask<CellTuple>(step)).map(toRow);
      if (!rows.every((row) => reader.take(row))) return reader.page(false);
      const last = rows.at(-1);
      if (!last) return reader.page(true);
      step = { text: ABOVE_CELL, values: [...start, last.id, last.field, last.member] };
    }
  });
}

type CellTuple = [string, string, string, CellRow['shape'], bigint, bigint, bigint, bigint, string];

function toRow([id, field, member, shape, rank, lamport, site, seq, value]: CellTuple): CellRow {
  return { id, field, member, shape, rank, lamport, site, seq, value };
}
