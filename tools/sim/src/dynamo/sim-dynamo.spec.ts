import {
  GetItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type { DynamoClient } from '@tidemark/libs-op-store-dynamodb';
import { SeededChoices } from '../scheduler/choices.ts';
import { TABLE, World } from '../world.ts';
import { holds, parseCondition, parseUpdate } from './expression.ts';
import { type Strength, type Weather, calm } from './weather.ts';

const world = (weather: Partial<Weather> = {}) =>
  new World({ choices: new SeededChoices(1), ordering: 'timed', weather: { ...calm, ...weather } });

const key = (seq: number) => ({ stream_id: { S: 's' }, seq: { N: String(seq) } });
const put = (seq: number, more: object = {}): TransactWriteItem => ({
  Put: { TableName: TABLE, Item: { ...key(seq), ...more }, ConditionExpression: 'attribute_not_exists(stream_id)' },
});
const transaction = (seqs: readonly number[], ClientRequestToken?: string) =>
  new TransactWriteItemsCommand({
    TransactItems: seqs.map((seq) => put(seq)),
    ...(ClientRequestToken === undefined ? {} : { ClientRequestToken }),
  });
const above = (after: number) =>
  new QueryCommand({
    TableName: TABLE,
    ConsistentRead: true,
    KeyConditionExpression: 'stream_id = :s AND seq > :a',
    ExpressionAttributeValues: { ':s': { S: 's' }, ':a': { N: String(after) } },
  });
const snapshot = (...seqs: number[]) =>
  new TransactGetItemsCommand({ TransactItems: seqs.map((seq) => ({ Get: { TableName: TABLE, Key: key(seq) } })) });

/** The answer, or the name of the error and its reasons. */
async function ask(one: World, client: DynamoClient, command: object): Promise<unknown> {
  let answer: unknown;
  void client.send(command as GetItemCommand).then(
    (output) => (answer = output),
    (error: Error & { CancellationReasons?: { Code: string }[] }) =>
      (answer = [error.name, ...(error.CancellationReasons ?? []).map(({ Code }) => Code)]),
  );
  await one.scheduler.run(() => answer !== undefined);
  return answer;
}

test('transactions of more than 100 actions, of one item twice, or over 4 MB are refused; an item over 400 KB cancels its own', async () => {
  const one = world();
  const client = one.client(one.process('p'));
  const seqs = Array.from({ length: 101 }, (_, i) => i + 1);
  expect(await ask(one, client, transaction(seqs))).toEqual(['ValidationException']);
  expect(await ask(one, client, transaction([1, 1]))).toEqual(['ValidationException']);
  const large = { value: { S: 'x'.repeat(390_000) } };
  const items = Array.from({ length: 11 }, (_, i) => put(i + 1, large));
  expect(await ask(one, client, new TransactWriteItemsCommand({ TransactItems: items }))).toEqual([
    'ValidationException',
  ]);
  const tooLarge = [put(1), put(2, { value: { S: 'x'.repeat(410_000) } })];
  expect(await ask(one, client, new TransactWriteItemsCommand({ TransactItems: tooLarge }))).toEqual([
    'TransactionCanceledException',
    'None',
    'ValidationError',
  ]);
  expect(await ask(one, client, transaction(seqs.slice(0, 100)))).not.toBeInstanceOf(Array);
});

test('a token that succeeded does nothing again, one with other parameters is refused, and one is forgotten after ten minutes', async () => {
  const one = world();
  const client = one.client(one.process('p'));
  await ask(one, client, transaction([1], 'token'));
  expect(await ask(one, client, transaction([1], 'token'))).toMatchObject({});
  expect(await ask(one, client, transaction([2], 'token'))).toEqual(['IdempotentParameterMismatchException']);
  const later = one.scheduler.nowMs + 11 * 60_000;
  one.scheduler.happen(11 * 60_000, 'later', () => {});
  await one.scheduler.run(() => one.scheduler.nowMs >= later);
  expect(await ask(one, client, transaction([1], 'token'))).toEqual([
    'TransactionCanceledException',
    'ConditionalCheckFailed',
  ]);
});

test('ignored tokens are as if none were sent', async () => {
  const one = world({ tokens: 'ignored' });
  const client = one.client(one.process('p'));
  await ask(one, client, transaction([1], 'token'));
  expect(await ask(one, client, transaction([1], 'token'))).toEqual([
    'TransactionCanceledException',
    'ConditionalCheckFailed',
  ]);
});

/** A transaction of seqs 1 and 2 that is committed, with 2 visible and 1 not. */
function half(strength: Strength) {
  const one = world({ strength });
  const { database } = one.dynamo;
  const writes = [1n, 2n].map((seq) => ({ stream: 's', seq, item: key(Number(seq)) }));
  const flight = database.commit(writes);
  database.show(flight, flight.writes[1] as (typeof writes)[number]);
  return { one, database, flight, client: one.client(one.process('p')) };
}

test('a Query shows a transaction in part', async () => {
  const { one, client } = half('impl');
  expect(await ask(one, client, above(0))).toMatchObject({ Items: [{ seq: { N: '2' } }] });
  expect(one.dynamo.anomalies.partialVisibility).toBe(1);
});

test.each([
  ['impl', [1], [['TransactionCanceledException', 'TransactionConflict']]],
  ['impl', [2], [[2]]],
  ['brief', [2], [['TransactionCanceledException', 'TransactionConflict']]],
  [
    'weak',
    [1, 2],
    [
      ['TransactionCanceledException', 'TransactionConflict', 'TransactionConflict'],
      [null, null],
      [1, 2],
    ],
  ],
] as const)('%s: a snapshot of %j beside it answers one of %j, and no other', async (strength, seqs, allowed) => {
  const seen = new Set<string>();
  for (let i = 0; i < 30; i++) {
    const { one, client } = half(strength);
    for (let skipped = 0; skipped < i; skipped++) one.scheduler.choices.fraction();
    const answer = await ask(one, client, snapshot(...seqs));
    const { Responses } = answer as { Responses?: { Item?: { seq: { N: string } } }[] };
    seen.add(JSON.stringify(Responses?.map(({ Item }) => (Item === undefined ? null : Number(Item.seq.N))) ?? answer));
  }
  expect([...seen].sort()).toEqual(allowed.map((one) => JSON.stringify(one)).sort());
});

test('GetItem answers old or new until the transaction is acknowledged, and new from then on', async () => {
  const seen = new Set<boolean>();
  for (let i = 0; i < 20; i++) {
    const { one, client, database, flight } = half('brief');
    for (let skipped = 0; skipped < i; skipped++) one.scheduler.choices.fraction();
    const get = new GetItemCommand({ TableName: TABLE, Key: key(1), ConsistentRead: true });
    seen.add(((await ask(one, client, get)) as { Item?: object }).Item !== undefined);
    database.acknowledge(flight);
    expect(await ask(one, client, get)).toMatchObject({ Item: key(1) });
  }
  expect(seen.size).toBe(2);
});

test('what is not yet visible conflicts with another transaction', async () => {
  const { one, client } = half('impl');
  expect(await ask(one, client, transaction([1, 3]))).toEqual([
    'TransactionCanceledException',
    'TransactionConflict',
    'None',
  ]);
});

test('a partition key takes its write units in a second, and then a debt is to be paid', async () => {
  const one = world({ partitionUnits: 10 });
  const client = one.client(one.process('p'));
  expect(await ask(one, client, transaction([1, 2, 3, 4, 5, 6]))).not.toBeInstanceOf(Array);
  expect(await ask(one, client, transaction([7]))).toBeInstanceOf(Array);
  expect(one.dynamo.anomalies.throttle).toBeGreaterThan(0);
});

test('expressions of the protocol are judged; any other, and any unknown input, is an error of the simulator', async () => {
  const given = { ExpressionAttributeValues: { ':a': { N: '3' } } };
  const item = { n: { N: '3' } };
  expect(holds(parseCondition('attribute_not_exists(n) OR n = :a'), item, given)).toBe(true);
  expect(holds(parseCondition('NOT n = :a'), item, given)).toBe(false);
  expect(holds(parseCondition('m = :a'), item, given)).toBe(false);
  expect(() => parseCondition('attribute_type(n, :a)')).toThrow(/does not know/);
  expect(() => parseUpdate('SET n = list_append(n, :a)')).toThrow(/does not know/);
  const one = world();
  const client = one.client(one.process('p'));
  void client.send(new GetItemCommand({ TableName: TABLE, Key: key(1) })).catch(() => {});
  await expect(one.scheduler.run()).rejects.toThrow(/strong reads/);
});
