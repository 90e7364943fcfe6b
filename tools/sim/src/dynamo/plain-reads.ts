import type {
  AttributeValue,
  BatchGetItemCommandInput,
  GetItemCommandInput,
  QueryCommandInput,
  ScanCommandInput,
  TransactGetItemsCommandInput,
} from '@aws-sdk/client-dynamodb';
import { compareUtf8 } from '@tidemark/libs-kernel';
import { fnv1a32 } from '@tidemark/libs-wire';
import { invalid } from './errors.ts';
import { type Condition, type Placeholders, holds, nameOf, parseCondition, valueOf } from './expression.ts';
import { type Item, itemBytes } from './item.ts';
import type { PlainTable } from './plain-table.ts';
import { projected } from './query.ts';
import { type Request, output } from './request.ts';
import type { SimDynamo } from './sim-dynamo.ts';

export function plainGet(table: PlainTable, request: Request): void {
  const input = request.input as unknown as GetItemCommandInput;
  if (input.ConsistentRead !== true) throw new Error('the simulated DynamoDB has strong reads alone');
  const item = table.get(table.keyOf(input.Key));
  request.reply(output(item === null ? {} : { Item: projected(item, input.ProjectionExpression, input) }));
}

export function plainGets(table: PlainTable, request: Request): void {
  const { TransactItems = [] } = request.input as unknown as TransactGetItemsCommandInput;
  const Responses = TransactItems.map(({ Get }) => {
    const item = table.get(table.keyOf(Get?.Key));
    return item === null ? {} : { Item: projected(item, Get?.ProjectionExpression, Get ?? {}) };
  });
  request.reply(output({ Responses }));
}

/** Some of what is asked for may come later, as documented. */
export function plainBatch(dynamo: SimDynamo, name: string, table: PlainTable, request: Request): void {
  const { RequestItems = {} } = request.input as unknown as BatchGetItemCommandInput;
  const { Keys = [], ...rest } = RequestItems[name] ?? { Keys: [] };
  if (rest.ConsistentRead !== true) throw new Error('the simulated DynamoDB has strong reads alone');
  if (Keys.length === 0 || Keys.length > 100) throw invalid('between 1 and 100 keys');
  const served = dynamo.misfortune(dynamo.weather.spuriousRefusal)
    ? 1 + dynamo.scheduler.choices.pick(Keys.length)
    : Keys.length;
  const found = Keys.slice(0, served)
    .map((key) => table.get(table.keyOf(key)))
    .filter((item) => item !== null);
  const left = Keys.slice(served);
  const Responses = { [name]: found.map((item) => projected(item, rest.ProjectionExpression, rest)) };
  request.reply(output({ Responses, UnprocessedKeys: left.length === 0 ? {} : { [name]: { ...rest, Keys: left } } }));
}

export function plainQuery(dynamo: SimDynamo, table: PlainTable, request: Request): void {
  const input = request.input as unknown as QueryCommandInput;
  if (input.ConsistentRead !== true) throw new Error('the simulated DynamoDB has strong reads alone');
  const condition = parseCondition(input.KeyConditionExpression ?? '');
  const [partition, sort] = table.key;
  const wanted = partitionOf(condition, partition, input);
  if (wanted === undefined) throw invalid(`Query condition missed key schema element: ${partition}`);
  const items = table.items(wanted, {
    isInside: (value) => holds(condition, { [partition]: { S: wanted }, [sort]: value }, input),
    ascending: input.ScanIndexForward !== false,
    after: input.ExclusiveStartKey,
  });
  reply(dynamo, table, request, items, input);
}

/** A partition key's segment is that of its hash, as DynamoDB has it. */
export function plainScan(dynamo: SimDynamo, table: PlainTable, request: Request): void {
  const input = request.input as unknown as ScanCommandInput;
  if (input.ConsistentRead !== true) throw new Error('the simulated DynamoDB has strong reads alone');
  const { Segment = 0, TotalSegments = 1, ExclusiveStartKey } = input;
  const all = table.partitions
    .filter((partition) => fnv1a32(partition) % TotalSegments === Segment)
    .flatMap((partition) => table.items(partition));
  // The item that a page ended with may be gone.
  const rest = ExclusiveStartKey === undefined ? all : all.filter((item) => isBehind(table, item, ExclusiveStartKey));
  reply(dynamo, table, request, rest, input);
}

function isBehind({ key: [partition, sort] }: PlainTable, item: Item, start: Item): boolean {
  const [a, b] = [item[partition]?.S as string, start[partition]?.S as string];
  return a === b ? compareUtf8(item[sort]?.S as string, start[sort]?.S as string) > 0 : a > b;
}

function partitionOf(condition: Condition, name: string, given: Placeholders): string | undefined {
  if (condition.kind === 'and')
    return partitionOf(condition.left, name, given) ?? partitionOf(condition.right, name, given);
  if (condition.kind !== 'compare' || condition.by !== '=' || nameOf(condition.left, given) !== name) return undefined;
  return valueOf(condition.right, null, given)?.S;
}

function reply(
  dynamo: SimDynamo,
  table: PlainTable,
  request: Request,
  items: readonly Item[],
  input: QueryCommandInput | ScanCommandInput,
): void {
  const page: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (page.length === (input.Limit ?? Infinity) || bytes > dynamo.pageBytesMax) break;
    page.push(item);
    bytes += itemBytes(item);
  }
  const last = page.at(-1);
  const isCut = page.length === input.Limit || page.length < items.length;
  const filter = input.FilterExpression;
  const kept = filter === undefined ? page : page.filter((item) => holds(parseCondition(filter), item, input));
  const Items = kept.map((item): Record<string, AttributeValue> => projected(item, input.ProjectionExpression, input));
  request.reply(
    output({
      ...(input.Select === 'COUNT' ? {} : { Items }),
      Count: Items.length,
      ScannedCount: page.length,
      ...(isCut && last !== undefined ? { LastEvaluatedKey: table.keyOf(last) } : {}),
      ...consumed(input.ReturnConsumedCapacity, bytes),
    }),
  );
}

/** Read units of a strong read, for those who bound their own rate by them. */
export function consumed(asked: string | undefined, bytes: number) {
  return asked === undefined || asked === 'NONE'
    ? {}
    : { ConsumedCapacity: { CapacityUnits: Math.max(1, Math.ceil(bytes / 4096)) } };
}
