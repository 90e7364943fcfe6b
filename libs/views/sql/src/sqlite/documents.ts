import { DOCUMENTS_PAGE_BYTES_MAX, type Document, type DocumentPage } from '@tidemark/libs-views-contract';
import { type CellRow, PageReader, toDocument } from '../cell-rows.ts';
import type { Handle } from './open-file.ts';

export interface Documents {
  one(stream: string, kind: string, id: string): Document | null;
  page(stream: string, kind: string, after: string | null, limit: number, bytesMax?: number): DocumentPage;
}

/** The epoch is looked up inside the statement, so that a switch of epochs falls before or after the whole answer. */
const SHOWN = `
  SELECT id, field, member, shape, rank, lamport, site, seq, value FROM cells
  WHERE stream = @stream AND epoch = (SELECT epoch FROM marks WHERE stream = @stream AND role = 'shown')
    AND kind = @kind AND value IS NOT NULL`;

export function prepareDocuments(handle: Handle): Documents {
  const one = handle.prepare<[object], CellRow>(`${SHOWN} AND id = @id`).safeIntegers();
  const first = handle.prepare<[object], CellRow>(`${SHOWN} ORDER BY id, field`).safeIntegers();
  const above = handle.prepare<[object], CellRow>(`${SHOWN} AND id > @after ORDER BY id, field`).safeIntegers();
  return {
    one(stream, kind, id) {
      // The driver would look for another text in place of a lone surrogate.
      const isName = stream.isWellFormed() && kind.isWellFormed() && id.isWellFormed();
      return isName ? toDocument(kind, id, one.all({ stream, kind, id })) : null;
    },
    page(stream, kind, after, limit, bytesMax = DOCUMENTS_PAGE_BYTES_MAX) {
      const reader = new PageReader({ kind, limit, bytesMax });
      if (!stream.isWellFormed() || !kind.isWellFormed()) return reader.page(true);
      // The rows behind the page are never read.
      const rows = after === null ? first.iterate({ stream, kind }) : above.iterate({ stream, kind, after });
      for (const row of rows) if (!reader.take(row)) return reader.page(false);
      return reader.page(true);
    },
  };
}
