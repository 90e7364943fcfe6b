import { Fault, compareUtf8 } from '@tidemark/libs-kernel';
import { DOCUMENTS_PAGE_BYTES_MAX, type Document, type DocumentPage } from '@tidemark/libs-views-contract';
import { toDocument } from './cells.ts';
import { type Item, MARK, documentKey, fitsKey, isStream, kindKeys } from './keys.ts';
import type { ViewsTable } from './views-table.ts';

/** A switch of epochs during a read is rare; so many of them during one are not. */
const EPOCHS_MAX = 5;

/** Two strong reads. A document that is not there is looked for again when its epoch was left meanwhile: it may have been dropped with it. */
export async function readDocument(
  table: ViewsTable,
  stream: string,
  kind: string,
  id: string,
): Promise<Document | null> {
  if (!isStream(stream) || !kind.isWellFormed() || !id.isWellFormed()) return null;
  return inShownEpoch(table, stream, null, async (epoch) => {
    const sk = documentKey(epoch, kind, id);
    const item = fitsKey(sk) ? await table.get(stream, sk) : undefined;
    return { answer: item ? toDocument(kind, item) : null, isCertain: item !== undefined };
  });
}

/**
 * Strong reads of up to 1 MB. Each document is as it was at some moment of the call; one that was there before the call is in the page, since
 * a page that ends in another epoch than it began with is read again.
 */
export async function readPage(
  table: ViewsTable,
  stream: string,
  kind: string,
  after: string | null,
  limit: number,
  bytesMax = DOCUMENTS_PAGE_BYTES_MAX,
): Promise<DocumentPage> {
  const nothing = { documents: [], next: null };
  if (!isStream(stream) || !kind.isWellFormed()) return nothing;
  return inShownEpoch<DocumentPage>(table, stream, nothing, async (epoch) => {
    const answer = await pageOf(table, stream, epoch, { kind, after, limit, bytesMax });
    return { answer, isCertain: false };
  });
}

interface Asked {
  readonly kind: string;
  readonly after: string | null;
  readonly limit: number;
  readonly bytesMax: number;
}

async function pageOf(
  table: ViewsTable,
  stream: string,
  epoch: number,
  { kind, after, limit, bytesMax }: Asked,
): Promise<DocumentPage> {
  const documents: Document[] = [];
  const range = kindKeys(epoch, kind, after);
  let bytes = 0;
  let from: Item | undefined;
  do {
    // One more tells that there is a next page; and `after` itself may begin the range.
    const page = await table.query(stream, range, limit - documents.length + 2, from);
    for (const item of page.items) {
      const document = toDocument(kind, item);
      if (document === null || (after !== null && compareUtf8(document.id, after) <= 0)) continue;
      const isFull = documents.length >= limit || (documents.length > 0 && bytes >= bytesMax);
      if (isFull) return { documents, next: documents.at(-1)?.id ?? null };
      documents.push(document);
      bytes += valueBytes(document);
    }
    from = page.next;
  } while (from !== undefined);
  return { documents, next: null };
}

/** Rows of an epoch are dropped after it was left, and never before: an answer from an epoch that is shown still is whole. */
async function inShownEpoch<T>(
  table: ViewsTable,
  stream: string,
  nothing: T,
  read: (epoch: number) => Promise<{ readonly answer: T; readonly isCertain: boolean }>,
): Promise<T> {
  let shown = await shownEpoch(table, stream);
  for (let epochs = 0; epochs < EPOCHS_MAX; epochs++) {
    if (shown === null) return nothing;
    const { answer, isCertain } = await read(shown);
    const now = isCertain ? shown : await shownEpoch(table, stream);
    if (now === shown) return answer;
    shown = now;
  }
  throw new Fault('unavailable', `what is shown of stream ${JSON.stringify(stream)} changes all the time`);
}

async function shownEpoch(table: ViewsTable, stream: string): Promise<number | null> {
  const epoch = (await table.get(stream, MARK, 'shown_epoch'))?.['shown_epoch']?.N;
  return epoch === undefined ? null : Number(epoch);
}

function valueBytes({ fields }: Document): number {
  let bytes = 0;
  for (const { members } of fields.values())
    for (const { value } of members.values()) bytes += Buffer.byteLength(value);
  return bytes;
}
