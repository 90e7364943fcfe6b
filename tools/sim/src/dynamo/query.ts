import type { AttributeValue, QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { I64_MAX, I64_MIN } from '@tidemark/libs-wire';
import { placeOf } from './actions.ts';
import { invalid } from './errors.ts';
import { type Condition, type Placeholders, nameOf, parseCondition, valueOf } from './expression.ts';
import { type Item, integer, itemBytes } from './item.ts';

/** Sort keys that a Query looks at, both ends included. */
export interface KeyRange {
  readonly stream: string;
  readonly low: bigint;
  readonly high: bigint;
}

export interface PageLimits {
  readonly limit: number;
  readonly bytesMax: number;
  readonly ascending: boolean;
}

/** The range of a Query, its start key already applied. */
export function rangeOf(input: QueryCommandInput): KeyRange {
  const range = narrowed(parseCondition(input.KeyConditionExpression ?? ''), input);
  if (range.stream === undefined) throw invalid('Query condition missed key schema element: stream_id');
  const found = { stream: range.stream, low: range.low ?? I64_MIN, high: range.high ?? I64_MAX };
  if (input.ExclusiveStartKey === undefined) return found;
  const { seq } = placeOf(input.ExclusiveStartKey);
  return input.ScanIndexForward === false
    ? { ...found, high: min(found.high, seq - 1n) }
    : { ...found, low: max(found.low, seq + 1n) };
}

/** The page that a Query makes of the items that it found, given in key order. */
export function pageOf(items: readonly Item[], { limit, bytesMax, ascending }: PageLimits) {
  const ordered = ascending ? items : items.toReversed();
  const page: Item[] = [];
  let bytes = 0;
  for (const item of ordered) {
    if (page.length === limit || bytes > bytesMax) break;
    page.push(item);
    bytes += itemBytes(item);
  }
  const last = page.at(-1);
  const more = page.length === limit || page.length < ordered.length;
  const lastKey = more && last !== undefined ? { stream_id: last['stream_id'], seq: last['seq'] } : undefined;
  return { items: page, lastKey };
}

/** The item with the named attributes alone; all of them without an expression. */
export function projected(
  item: Item,
  expression: string | undefined,
  given: Placeholders,
): Record<string, AttributeValue> {
  if (expression === undefined) return { ...item };
  const names = expression.split(',').map((part) => nameOf({ kind: 'path', text: part.trim() }, given));
  return Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));
}

interface Partial {
  readonly stream?: string | undefined;
  readonly low?: bigint | undefined;
  readonly high?: bigint | undefined;
}

function narrowed(condition: Condition, given: Placeholders): Partial {
  if (condition.kind === 'and') {
    const [left, right] = [narrowed(condition.left, given), narrowed(condition.right, given)];
    return {
      stream: left.stream ?? right.stream,
      low: max(left.low ?? I64_MIN, right.low ?? I64_MIN),
      high: min(left.high ?? I64_MAX, right.high ?? I64_MAX),
    };
  }
  if (condition.kind === 'between' && nameOf(condition.value, given) === 'seq') {
    return { low: number(condition.low, given), high: number(condition.high, given) };
  }
  if (condition.kind !== 'compare') throw invalid('Query key condition not supported');
  const name = nameOf(condition.left, given);
  if (name === 'stream_id' && condition.by === '=') return { stream: valueOf(condition.right, null, given)?.S };
  if (name !== 'seq') throw invalid('Query key condition not supported');
  const seq = number(condition.right, given);
  switch (condition.by) {
    case '=':
      return { low: seq, high: seq };
    case '>':
      return { low: seq + 1n };
    case '>=':
      return { low: seq };
    case '<':
      return { high: seq - 1n };
    case '<=':
      return { high: seq };
    case '<>':
      throw invalid('Query key condition not supported');
  }
}

const number = (operand: Parameters<typeof valueOf>[0], given: Placeholders) =>
  integer(valueOf(operand, null, given)?.N ?? '');
const min = (a: bigint, b: bigint) => (a < b ? a : b);
const max = (a: bigint, b: bigint) => (a > b ? a : b);
