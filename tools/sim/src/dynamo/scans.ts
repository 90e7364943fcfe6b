import type { QueryCommandInput, ScanCommandInput } from '@aws-sdk/client-dynamodb';
import { I64_MAX, I64_MIN, fnv1a32 } from '@tidemark/libs-wire';
import { DynamoError } from './errors.ts';
import { holds, parseCondition } from './expression.ts';
import { type Item, itemBytes, itemText } from './item.ts';
import { consumed } from './plain-reads.ts';
import { type KeyRange, type PageLimits, pageOf, projected, rangeOf } from './query.ts';
import { type Request, onlyKnown, output } from './request.ts';
import type { SimDynamo } from './sim-dynamo.ts';

const PLACEHOLDERS = ['ExpressionAttributeNames', 'ExpressionAttributeValues', 'ReturnConsumedCapacity', 'TableName'];
const QUERY = [...PLACEHOLDERS, 'KeyConditionExpression', 'ProjectionExpression', 'ConsistentRead', 'Limit'];

const QUERY_INPUTS = new Set([...QUERY, 'ExclusiveStartKey', 'ScanIndexForward', 'Select']);
const SCAN_INPUTS = new Set([
  ...PLACEHOLDERS,
  'FilterExpression',
  'ProjectionExpression',
  'ConsistentRead',
  'ExclusiveStartKey',
  'Limit',
  'Segment',
  'TotalSegments',
]);

/** A strong Query: read-committed, so that each item of a page may be seen at a moment of its own. */
export function query(dynamo: SimDynamo, request: Request): void {
  const input = request.input as unknown as QueryCommandInput;
  onlyKnown(request.input, QUERY_INPUTS);
  if (input.ConsistentRead !== true) throw new Error('the simulated DynamoDB has strong reads alone');
  if (dynamo.misfortune(dynamo.weather.throttle)) throw throttled(dynamo);
  const range = rangeOf(input);
  const limits: PageLimits = {
    limit: input.Limit ?? Infinity,
    bytesMax: dynamo.pageBytesMax,
    ascending: input.ScanIndexForward !== false,
  };
  takePage(dynamo, request, range, (items) => {
    const { items: page, lastKey } = pageOf(items, limits);
    const Items = page.map((item) => projected(item, input.ProjectionExpression, input));
    request.reply(
      output({
        Count: Items.length,
        ScannedCount: Items.length,
        ...(input.Select === 'COUNT' ? {} : { Items }),
        ...(lastKey === undefined ? {} : { LastEvaluatedKey: lastKey }),
      }),
    );
  });
}

/** The whole table, or a segment of it, stream by stream. */
export function scan(dynamo: SimDynamo, request: Request): void {
  const input = request.input as unknown as ScanCommandInput;
  onlyKnown(request.input, SCAN_INPUTS);
  if (dynamo.misfortune(dynamo.weather.throttle)) throw throttled(dynamo);
  const { Segment = 0, TotalSegments = 1 } = input;
  const all = dynamo.database.streams
    .filter((stream) => fnv1a32(stream) % TotalSegments === Segment)
    .flatMap((stream) => visibleItems(dynamo, { stream, low: I64_MIN, high: I64_MAX }));
  const start = input.ExclusiveStartKey;
  const from =
    start === undefined
      ? 0
      : 1 +
        all.findIndex((item) => item['stream_id']?.S === start['stream_id']?.S && item['seq']?.N === start['seq']?.N);
  const { items, lastKey } = pageOf(all.slice(from), {
    limit: input.Limit ?? Infinity,
    bytesMax: dynamo.pageBytesMax,
    ascending: true,
  });
  const filter = input.FilterExpression;
  const kept = filter === undefined ? items : items.filter((item) => holds(parseCondition(filter), item, input));
  const Items = kept.map((item) => projected(item, input.ProjectionExpression, input));
  request.reply(
    output({
      Items,
      Count: Items.length,
      ScannedCount: items.length,
      ...(lastKey === undefined ? {} : { LastEvaluatedKey: lastKey }),
      ...consumed(
        input.ReturnConsumedCapacity,
        items.reduce((sum, item) => sum + itemBytes(item), 0),
      ),
    }),
  );
}

export function throttled({ anomalies, scheduler }: SimDynamo): DynamoError {
  anomalies.throttle++;
  const name = scheduler.choices.pick(2) === 0 ? 'ProvisionedThroughputExceededException' : 'ThrottlingException';
  return new DynamoError(name, 'the request rate is too high');
}

/** Collects the visible items of a range, at one moment or at several, and hands them over in key order. */
function takePage(dynamo: SimDynamo, request: Request, range: KeyRange, done: (items: readonly Item[]) => void): void {
  const { scheduler, weather, liberties } = dynamo;
  countPartial(dynamo, range);
  const free = scheduler.ordering === 'free';
  const torn = free ? liberties.tornSeqs > 1 && range.high > 1n : weather.pageMs[1] > 0;
  if (!torn) return done(visibleItems(dynamo, range));
  const period = free ? liberties.tornSeqs : 8;
  const early = scheduler.choices.pick(2 ** period);
  const isEarly = (seq: bigint) =>
    ((early >> Number(((seq % BigInt(period)) + BigInt(period)) % BigInt(period))) & 1) === 1;
  const first = visibleBySeq(dynamo, range);
  const finish = () => {
    const second = visibleBySeq(dynamo, range);
    const seqs = new Set([...first.keys(), ...second.keys()]);
    if ([...seqs].some((seq) => isEarly(seq) && first.get(seq) !== second.get(seq))) dynamo.anomalies.tornPage++;
    const merged = [...seqs].sort((a, b) => (a < b ? -1 : 1)).map((seq) => (isEarly(seq) ? first : second).get(seq));
    done(merged.filter((item) => item !== undefined));
  };
  if (free) {
    // What it saw so far is part of the state that an explorer compares.
    const seen = [...first].filter(([seq]) => isEarly(seq)).map(([, item]) => itemText(item));
    scheduler.wake(0, `${request.name} ends its page: ${early} ${seen.join(' ')}`, finish);
  } else {
    scheduler.happen(scheduler.between(weather.pageMs), `${request.name} ends its page`, finish);
  }
}

const visibleItems = (dynamo: SimDynamo, range: KeyRange): Item[] => [...visibleBySeq(dynamo, range).values()];

function visibleBySeq({ database }: SimDynamo, { stream, low, high }: KeyRange): Map<bigint, Item> {
  const found = new Map<bigint, Item>();
  for (const seq of database.keys(stream, low, high)) {
    const item = database.visible({ stream, seq });
    if (item !== null) found.set(seq, item);
  }
  return found;
}

function countPartial({ database, anomalies }: SimDynamo, { stream, low, high }: KeyRange): void {
  for (const { state, writes, shown } of database.flights) {
    if (state !== 'showing') continue;
    const inside = writes.filter((write) => write.stream === stream && write.seq >= low && write.seq <= high);
    const seen = inside.filter((write) => shown.has(write)).length;
    if (seen > 0 && seen < inside.length) anomalies.partialVisibility++;
  }
}
