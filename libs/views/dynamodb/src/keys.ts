import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { Fault } from '@tidemark/libs-kernel';
import { assertStream } from '@tidemark/libs-views-contract';

export type Item = Readonly<Record<string, AttributeValue>>;
export type Key = Readonly<Record<'stream_id' | 'sk', AttributeValue.SMember>>;

/**
 * One table, one item collection per stream:
 *
 *     sk                              item
 *     .mark                           what is shown, what is built, the highest epoch (marks.ts)
 *     .parked#<epoch>#<seq>           a parked op
 *     <epoch>#<kind>#<id>             a document, its cells as attributes (cells.ts)
 *     .stream#<stream>                beside the others, in the collection of REGISTRY: that there is such a stream
 *
 * Epochs have ten digits and seqs nineteen, so that keys sort as the numbers do. In a kind `%` and `#` are escaped; the id comes last and stands
 * as it is, so that documents of a kind sort by the bytes of their ids. No document's key begins with a dot.
 */
export const REGISTRY = '.streams';
export const MARK = '.mark';

/** DynamoDB's own bound of a sort key, in UTF-8 bytes. */
export const SORT_KEY_BYTES_MAX = 1024;
/** Its bound of a partition key is wider, but a stream stands in a sort key, too. */
export const STREAM_BYTES_MAX = 1000;

/** The byte behind `#`. */
const BEHIND = '$';
const SEQ_DIGITS = 19;
const EPOCH_DIGITS = 10;

export interface SortKeys {
  readonly from: string;
  readonly to: string;
}

export function keyOf(stream: string, sk: string): Key {
  return { stream_id: { S: stream }, sk: { S: sk } };
}

export function documentKey(epoch: number, kind: string, id: string): string {
  return `${epochText(epoch)}#${escaped(kind)}#${id}`;
}

export function idOf(sk: string): string {
  return sk.slice(sk.indexOf('#', EPOCH_DIGITS + 1) + 1);
}

/** Keys of the documents of a kind; with `after`, from about there on: it may be longer than any key. */
export function kindKeys(epoch: number, kind: string, after: string | null): SortKeys {
  const all = `${epochText(epoch)}#${escaped(kind)}`;
  return { from: cut(`${all}#${after ?? ''}`), to: `${all}${BEHIND}` };
}

/** Keys of all documents of the epochs. */
export function epochKeys(first: number, last: number): SortKeys {
  return { from: `${epochText(first)}#`, to: `${epochText(last)}${BEHIND}` };
}

export function parkedKey(epoch: number, seq: bigint): string {
  return `.parked#${epochText(epoch)}#${String(seq).padStart(SEQ_DIGITS, '0')}`;
}

export function parkedSeq(sk: string): bigint {
  return BigInt(sk.slice(-SEQ_DIGITS));
}

export function parkedKeys(first: number, last: number): SortKeys {
  return { from: `.parked#${epochText(first)}#`, to: `.parked#${epochText(last)}${BEHIND}` };
}

export function streamKey(stream: string): string {
  return `.stream#${stream}`;
}

export function streamOf(sk: string): string {
  return sk.slice('.stream#'.length);
}

/** From about `after` on. */
export function streamKeys(after: string | null): SortKeys {
  return { from: cut(streamKey(after ?? '')), to: `.stream${BEHIND}` };
}

/** Whether the table can hold anything of such a stream. */
export function isStream(stream: string): boolean {
  return stream.isWellFormed() && stream !== '' && Buffer.byteLength(stream) <= STREAM_BYTES_MAX;
}

export function assertStorableStream(stream: string): void {
  assertStream(stream);
  if (!isStream(stream)) throw new Fault('invalid', `the stream id is empty or longer than ${STREAM_BYTES_MAX} bytes`);
}

export function fitsKey(sk: string): boolean {
  return Buffer.byteLength(sk) <= SORT_KEY_BYTES_MAX;
}

/** Keeps names apart that are joined by `#`. */
export function escaped(name: string): string {
  return name.replaceAll('%', '%25').replaceAll('#', '%23');
}

export function unescaped(name: string): string {
  return name.replaceAll('%23', '#').replaceAll('%25', '%');
}

function epochText(epoch: number): string {
  return String(epoch).padStart(EPOCH_DIGITS, '0');
}

/** No character in half. */
function cut(sk: string): string {
  if (fitsKey(sk)) return sk;
  const bytes = Buffer.from(sk);
  let end = SORT_KEY_BYTES_MAX;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}
