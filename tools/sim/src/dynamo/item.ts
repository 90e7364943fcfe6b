import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { compareUtf8 } from '@tidemark/libs-kernel';

export type Item = Readonly<Record<string, AttributeValue>>;

/** The largest item that DynamoDB stores: names and values together. */
export const ITEM_BYTES_MAX = 400 * 1024;

/** As the developer guide describes it: UTF-8 of names and strings, about a byte for two digits and one more of numbers. */
export function itemBytes(item: Item): number {
  const known = sizes.get(item);
  if (known !== undefined) return known;
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) bytes += Buffer.byteLength(name) + valueBytes(value);
  sizes.set(item, bytes);
  return bytes;
}

/** Items are never changed, so what was found of one stays so. */
const sizes = new WeakMap<Item, number>();

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberBytes(value.N);
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1;
  if (value.B !== undefined) return value.B.length;
  if (value.SS !== undefined) return value.SS.reduce((sum, one) => sum + Buffer.byteLength(one), 0);
  if (value.L !== undefined) return value.L.reduce((sum, one) => sum + 1 + valueBytes(one), 3);
  if (value.M !== undefined)
    return Object.entries(value.M).reduce((sum, [name, one]) => sum + 1 + Buffer.byteLength(name) + valueBytes(one), 3);
  throw new Error(`the simulated DynamoDB has no values like ${JSON.stringify(value)}`);
}

function numberBytes(text: string): number {
  const digits = text.replace(/^-?0*/, '').replace(/0+$/, '').length;
  return Math.ceil(digits / 2) + 1 + (text.startsWith('-') ? 1 : 0);
}

/** Negative, 0 or positive; null when the two are of different types, which no comparison holds between. */
export function compareValues(a: AttributeValue, b: AttributeValue): number | null {
  if (a.S !== undefined && b.S !== undefined) return compareUtf8(a.S, b.S);
  if (a.N !== undefined && b.N !== undefined) return compareIntegers(integer(a.N), integer(b.N));
  if (a.BOOL !== undefined && b.BOOL !== undefined) return Number(a.BOOL) - Number(b.BOOL);
  return null;
}

/** Of one type and one content; sets and maps have no order. */
export function valuesEqual(a: AttributeValue, b: AttributeValue): boolean {
  const order = compareValues(a, b);
  return order === null ? canonical(a) === canonical(b) : order === 0;
}

function canonical(value: AttributeValue): string {
  if (value.M !== undefined)
    return `{${Object.keys(value.M)
      .sort()
      .map((name) => `${JSON.stringify(name)}:${canonical(value.M?.[name] as AttributeValue)}`)
      .join()}}`;
  if (value.L !== undefined) return `[${value.L.map(canonical).join()}]`;
  if (value.SS !== undefined) return JSON.stringify({ SS: value.SS.toSorted() });
  return JSON.stringify(value);
}

/** What the function `size` answers. */
export function sizeOf(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.M !== undefined) return Object.keys(value.M).length;
  const many = value.B ?? value.SS ?? value.L;
  if (many === undefined) throw new Error(`the simulated DynamoDB knows no size of ${JSON.stringify(value)}`);
  return many.length;
}

export const compareIntegers = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

export function integer(text: string): bigint {
  if (!/^-?\d{1,38}$/.test(text)) throw new Error(`the simulated DynamoDB has integers alone, not ${text}`);
  return BigInt(text);
}

/** Whether the item certainly takes no more than so many bytes; found without counting them. */
export function surelyFits(item: Item, bytesMax: number): boolean {
  let units = 0;
  for (const name in item) {
    const { S, N, M, L, SS, B } = item[name] as AttributeValue;
    if (M ?? L ?? SS ?? B) return itemBytes(item) <= bytesMax;
    units += name.length + (S?.length ?? N?.length ?? 0) + 40;
  }
  return 3 * units <= bytesMax;
}

/**
 * What tells two items of one place apart in a small case, whose ops differ by their ids alone: the texts are compared often.
 */
export function itemText(item: Item | null): string {
  if (item === null) return '-';
  return `${item['op_id']?.S ?? ''},${item['op_seq']?.N ?? ''},${item['next_seq']?.N ?? ''}`;
}
