import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { inParallel, mapWriteError } from '@tidemark/libs-driver-dynamodb';
import { Fault } from '@tidemark/libs-kernel';
import { type ViewChange, assertWellFormed, changeFault, strongest } from '@tidemark/libs-views-contract';
import { type CellWrite, cellBytes, cellWrite, changes, condition } from './cells.ts';
import { SORT_KEY_BYTES_MAX, assertStorableStream, documentKey, fitsKey } from './keys.ts';
import { isTooLarge } from './too-large.ts';
import type { Update, ViewsTable } from './views-table.ts';

export interface ApplyParts {
  readonly table: ViewsTable;
  /** Documents that are written at once, of one call. */
  readonly callsMax: number;
}

interface DocumentWrite {
  readonly sk: string;
  readonly cells: readonly CellWrite[];
}

const ITEM_BYTES_MAX = 400 * 1024;
/** An expression has 4 KB at most, and a cell takes up to 56 bytes of the condition. */
const CELLS_MAX = 70;
/** Of an attribute's name, which holds field and member. */
const NAME_BYTES_MAX = 65_535;
/** Each round that is lost means that another worker wrote a part of the same document. */
const ROUNDS_MAX = 20;

/**
 * Cells of one document in one conditional UpdateItem: each of them only if it changes something. If the condition fails, what was found tells
 * which of them still do, and those are sent again; a repeat of everything, after a crash, costs one refused request per document. Documents are
 * independent of each other; transactions would double the price of each write and gain nothing.
 */
export async function apply(
  { table, callsMax }: ApplyParts,
  stream: string,
  epoch: number,
  all: readonly ViewChange[],
): Promise<void> {
  assertWellFormed(stream, all);
  assertStorableStream(stream);
  const documents = documentsOf(epoch, strongest(all));
  for (const document of documents) assertFits(stream, document);
  await inParallel(documents, callsMax, (document) => writeDocument(table, stream, document));
}

function documentsOf(epoch: number, all: readonly ViewChange[]): DocumentWrite[] {
  const documents = new Map<string, CellWrite[]>();
  for (const change of all) {
    const sk = documentKey(epoch, change.kind, change.id);
    const cells = documents.get(sk);
    if (cells) cells.push(cellWrite(change));
    else documents.set(sk, [cellWrite(change)]);
  }
  return [...documents].map(([sk, cells]) => ({ sk, cells }));
}

/** What can be known before anything is sent. */
function assertFits(stream: string, { sk, cells }: DocumentWrite): void {
  if (!fitsKey(sk))
    throw changeFault('too_large', cells[0]!.change, `its name takes more than ${SORT_KEY_BYTES_MAX} bytes of a key`);
  const frame = Buffer.byteLength(stream) + Buffer.byteLength(sk) + Buffer.byteLength('stream_idsk');
  for (const cell of cells) {
    if (frame + cellBytes(cell) > ITEM_BYTES_MAX) throw tooLarge(cell);
    if (Buffer.byteLength(cell.name) > NAME_BYTES_MAX)
      throw changeFault('too_large', cell.change, `its field and member take more than ${NAME_BYTES_MAX} bytes`);
  }
}

async function writeDocument(table: ViewsTable, stream: string, { sk, cells }: DocumentWrite): Promise<void> {
  let left = cells;
  for (let lost = 0; left.length > 0;) {
    const group = left.slice(0, groupSize(left));
    const updated = await table.update(stream, sk, updateOf(group)).catch((thrown: unknown) => {
      throw isTooLarge(thrown) ? tooLarge(largest(group)) : mapWriteError(thrown, table.name);
    });
    if (updated.kind === 'written') left = left.slice(group.length);
    else if (++lost > ROUNDS_MAX) throw contended(table.name, sk);
    else left = left.filter((cell) => changes(cell, updated.item));
  }
}

/** What fits no item together is sent in parts: a request has its bounds too, and some of it may be older than what is stored. */
function groupSize(cells: readonly CellWrite[]): number {
  let bytes = 0;
  const end = cells.findIndex((cell, at) => (bytes += cellBytes(cell)) > ITEM_BYTES_MAX || at === CELLS_MAX);
  return end < 0 ? cells.length : Math.max(end, 1);
}

function updateOf(cells: readonly CellWrite[]): Update {
  const names: Record<string, string> = {};
  const values: Record<string, AttributeValue> = {};
  for (const [nth, { change, name, cell }] of cells.entries()) {
    names[`#c${nth}`] = name;
    values[`:c${nth}`] = { M: cell };
    if (change.effect === 'remove') [names['#x'], values[`:x${nth}`]] = ['x', cell['x']!];
    else [names['#w'], values[`:w${nth}`]] = ['w', cell['w']!];
  }
  return {
    set: `SET ${cells.map((_, nth) => `#c${nth} = :c${nth}`).join(', ')}`,
    condition: cells.map(condition).join(' AND '),
    names,
    values,
  };
}

function largest(cells: readonly CellWrite[]): CellWrite {
  return cells.reduce((most, cell) => (cellBytes(cell) > cellBytes(most) ? cell : most));
}

function tooLarge({ change }: CellWrite): Fault {
  return changeFault('too_large', change, `its document would take more than the ${ITEM_BYTES_MAX} bytes of an item`);
}

function contended(table: string, sk: string): Fault {
  const text = `the document ${JSON.stringify(sk)} of the DynamoDB table "${table}" is written by others all the time`;
  return new Fault('unavailable', text, { outcome: 'partly' });
}
