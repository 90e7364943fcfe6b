import { randomUUID } from 'node:crypto';
import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { type DynamoClient, dynamoOpStore } from '@tidemark/libs-op-store-dynamodb';
import { createTables } from '@tidemark/libs-op-store-dynamodb/tables';
import { serverTests } from '@tidemark/tools-services/testing';
import { fnv1a32 } from '@tidemark/libs-wire';
import { rawOpItem } from './checkers/stored-op.ts';
import { SeededChoices } from './scheduler/choices.ts';
import { someOps } from './some-op.ts';
import { TABLE, World } from './world.ts';

const withDynamodb = serverTests('dynamodb');

type Item = Record<string, AttributeValue>;

/** Where a trace runs: on the simulated database, or on the stand-in. */
interface Subject {
  readonly table: string;
  readonly client: DynamoClient;
  open(name: string, maxOpsPerRound?: number): OpStore;
}

/** What was answered, call by call, and every item of the table at the end. */
type Told = string[];

/** A step that takes no time at all, so that sleeps of code under test do not either. */
class SkippedTime implements Clock, Sleeper {
  #ms = 0;
  now = () => this.#ms;
  monotonic = () => this.#ms;
  sleep = async (ms: number) => void (this.#ms += ms);
}

const told = (value: unknown) =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner));

/** Two relays and a few ops of older ones: appends, repeats, overtaken rounds, gaps and reads, as chance has them. */
async function storeTrace({ client, table, open }: Subject, seed: number): Promise<Told> {
  const random = new SeededRandom(seed);
  const pick = (n: number) => Math.floor(random.fraction() * n);
  for (const seq of [1n, 2n, 5n])
    await client.send(new PutItemCommand({ TableName: table, Item: rawOpItem('s', seq, op(`old-${seq}`)) }));
  if (pick(2) === 0)
    await client.send(new PutItemCommand({ TableName: table, Item: { ...key(0n), next_seq: { N: '6' } } }));
  const stores = [open('relay 1', 1 + pick(4)), open('relay 2')];
  const result: Told = [];
  const pushed: string[] = ['a1-'];
  for (let i = 0; i < 24; i++) {
    const store = stores[pick(2)] as OpStore;
    const kind = pick(3);
    if (kind === 0) pushed.push(`p${i}-`);
    const prefix = pushed[pick(pushed.length)] as string;
    if (kind < 2) result.push(told(await store.append('s', someOps(prefix, 1 + pick(9)))));
    else result.push(told(await store.read('s', BigInt(pick(30)), 1 + pick(12))));
  }
  result.push(told(await open('last').read('s', 0n, 500)));
  return [...result, ...(await itemsOf(client, table))];
}

const op = (opId: string) => ({ ...(someOps('x', 1)[0] as ReturnType<typeof someOps>[number]), opId });
const key = (seq: bigint): Item => ({ stream_id: { S: 's' }, seq: { N: String(seq) } });

/** The single calls of the protocol, those that fail among them. */
async function commandTrace({ client, table }: Subject): Promise<Told> {
  const result: Told = [];
  const ABSENT = 'attribute_not_exists(stream_id)';
  const put = (seq: bigint) => ({
    Put: {
      TableName: table,
      Item: { ...key(seq), op_id: { S: `o${seq}` } },
      ConditionExpression: ABSENT,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    },
  });
  const count = (expected: number, next: number) => ({
    Update: {
      TableName: table,
      Key: key(0n),
      UpdateExpression: 'SET next_seq = :seq',
      ConditionExpression: 'attribute_not_exists(next_seq) OR next_seq = :expected',
      ExpressionAttributeValues: { ':seq': { N: String(next) }, ':expected': { N: String(expected) } },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    },
  });
  const check = (seq: bigint) => ({
    ConditionCheck: { TableName: table, Key: key(seq), ConditionExpression: 'attribute_exists(stream_id)' },
  });
  const token = { ClientRequestToken: 'one token' };
  const range = { ':s': { S: 's' }, ':a': { N: '0' }, ':b': { N: '9' } };
  const query = (KeyConditionExpression: string, more: object) =>
    new QueryCommand({
      TableName: table,
      KeyConditionExpression,
      ExpressionAttributeValues: range,
      ConsistentRead: true,
      ...more,
    });
  const between = 'stream_id = :s AND seq BETWEEN :a AND :b';
  const commands = [
    new TransactWriteItemsCommand({ TransactItems: [count(0, 2), put(-5n), put(1n), put(2n)], ...token }),
    new TransactWriteItemsCommand({ TransactItems: [count(0, 2), put(-5n), put(1n), put(2n)], ...token }),
    new TransactWriteItemsCommand({ TransactItems: [count(0, 3), put(3n)], ...token }),
    new TransactWriteItemsCommand({ TransactItems: [count(0, 3), put(-5n), check(4n), put(1n)] }),
    new TransactWriteItemsCommand({ TransactItems: [count(2, 3), check(4n), put(3n)] }),
    new TransactWriteItemsCommand({ TransactItems: [put(3n), put(3n)] }),
    new UpdateItemCommand({
      TableName: table,
      Key: key(0n),
      UpdateExpression: 'ADD next_seq :a',
      ExpressionAttributeValues: { ':a': { N: '1' } },
      ReturnValues: 'UPDATED_NEW',
    }),
    new PutItemCommand({ TableName: table, Item: key(2n), ConditionExpression: ABSENT }),
    new GetItemCommand({ TableName: table, Key: key(-5n), ConsistentRead: true }),
    new GetItemCommand({ TableName: table, Key: key(7n), ConsistentRead: true }),
    new TransactGetItemsCommand({
      TransactItems: [3n, 2n, 0n].map((seq) => ({
        Get: { TableName: table, Key: key(seq), ProjectionExpression: 'stream_id, seq' },
      })),
    }),
    query(between, {}),
    query(between, { Limit: 2 }),
    query(between, { Limit: 1, ScanIndexForward: false, ProjectionExpression: 'seq' }),
    query(between, { Select: 'COUNT' }),
    query(between, { ExclusiveStartKey: key(1n) }),
  ];
  for (const command of commands) {
    const answer = await client.send(command as GetItemCommand).then(outputOf, errorOf);
    result.push(`${command.constructor.name} ${told(answer)}`);
  }
  return [...result, ...(await itemsOf(client, table))];
}

/** What the protocol looks at. */
const outputOf = (output: object) => {
  const { Items, Item, Responses, Attributes, Count, LastEvaluatedKey } = output as Record<string, unknown>;
  return sorted({ Items, Item, Responses, Attributes, Count, LastEvaluatedKey });
};
const errorOf = (error: Error & { CancellationReasons?: { Code?: string; Item?: Item }[] }) =>
  sorted({ name: error.name, reasons: error.CancellationReasons?.map(({ Code = 'None', Item }) => ({ Code, Item })) });

/** Attributes have no order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}

async function itemsOf(client: DynamoClient, table: string): Promise<string[]> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table, ConsistentRead: true }));
  return Items.map((item) => told(sorted(item))).sort();
}

async function onSimulator(trace: (subject: Subject) => Promise<Told>): Promise<Told> {
  const world = new World({ choices: new SeededChoices(1), ordering: 'timed' });
  const client = world.client(world.process('trace'));
  let result: Told | null = null;
  void trace({
    table: TABLE,
    client,
    open: (name, maxOpsPerRound = 49) => world.store(world.process(name), { maxOpsPerRound }),
  }).then(
    (ended) => (result = ended),
    (error: unknown) => (result = [String(error)]),
  );
  await world.scheduler.run(() => result !== null);
  return result as unknown as Told;
}

async function onStandIn(endpoint: string, trace: (subject: Subject) => Promise<Told>): Promise<Told> {
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'spec', secretAccessKey: 'spec' },
  });
  try {
    const names = { opsTable: `ops-${randomUUID()}`, registryTable: `registry-${randomUUID()}` };
    const time = new SkippedTime();
    await createTables(client, names, time);
    const table = names.opsTable;
    const open = (name: string, maxOpsPerRound = 49) =>
      dynamoOpStore({
        client,
        table,
        clock: time,
        sleeper: time,
        // The stand-in remembers the tokens of all tests.
        random: new SeededRandom(fnv1a32(table + name)),
        log: { info: () => {}, warn: () => {} },
        metrics: { round: () => {}, hole: () => {}, collision: () => {} },
        maxOpsPerRound,
      });
    return await trace({ table, client, open });
  } finally {
    client.destroy();
  }
}

withDynamodb('the simulated database answers each call of the protocol as the stand-in does', async ({ endpoint }) => {
  const simulated = await onSimulator(commandTrace);
  expect(simulated).toEqual(await onStandIn(endpoint, commandTrace));
});

withDynamodb(
  'the store does the same on the simulated database and on the stand-in, call by call and item by item',
  async ({ endpoint }) => {
    for (const seed of [1, 2, 3]) {
      const trace = (subject: Subject) => storeTrace(subject, seed);
      const simulated = await onSimulator(trace);
      expect(simulated).toEqual(await onStandIn(endpoint, trace));
    }
  },
  600_000,
);
