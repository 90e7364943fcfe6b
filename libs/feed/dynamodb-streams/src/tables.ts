import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type TableDescription,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { DynamoClient } from './client.ts';

/** Partition key and sort key, with their types. */
export type TableKey = readonly [partition: readonly [string, 'S' | 'N'], sort: readonly [string, 'S' | 'N']];

/** Of the relay's table: a stream, and the place in it. */
export const OPS_KEY: TableKey = [
  ['stream_id', 'S'],
  ['seq', 'N'],
];
/** Of the leases: a fold's name, and what is leased. */
export const LEASES_KEY: TableKey = [
  ['fold', 'S'],
  ['leaseKey', 'S'],
];

/** What makes the leases table; `aws dynamodb create-table` takes the same. It needs no stream, index or time to live. */
export function leasesTable(name: string): CreateTableCommandInput {
  return tableOf(name, LEASES_KEY);
}

export function tableOf(name: string, key: TableKey): CreateTableCommandInput {
  return {
    TableName: name,
    AttributeDefinitions: key.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: key.map(([AttributeName], i) => ({ AttributeName, KeyType: i === 0 ? 'HASH' : 'RANGE' })),
    BillingMode: 'PAY_PER_REQUEST',
  };
}

const POLL_MS = 500;
const POLLS_MAX = 240;

/** Makes the table and waits until it takes writes; one that is there already is left as it is. For stand-ins and tests. */
export async function createLeasesTable(client: DynamoClient, name: string, sleeper: Sleeper): Promise<void> {
  await unless('ResourceInUseException', client.send(new CreateTableCommand(leasesTable(name))));
  await becomes(client, name, sleeper, ({ TableStatus }) => TableStatus === 'ACTIVE');
}

/** Switches the stream of a table on, and waits for it; one that is on stays as it is. For stand-ins and tests. */
export async function enableStream(client: DynamoClient, table: string, sleeper: Sleeper): Promise<void> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
  if (Table?.StreamSpecification?.StreamEnabled !== true) {
    const StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' as const };
    await client.send(new UpdateTableCommand({ TableName: table, StreamSpecification }));
  }
  const isOn = ({ TableStatus, StreamSpecification, LatestStreamArn }: TableDescription) =>
    TableStatus === 'ACTIVE' && StreamSpecification?.StreamEnabled === true && LatestStreamArn !== undefined;
  await becomes(client, table, sleeper, isOn);
}

/** `stream_id S, seq N`. */
export function keyText({ KeySchema = [], AttributeDefinitions = [] }: TableDescription): string {
  const typeOf = (name: string | undefined) =>
    AttributeDefinitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType ?? '?';
  return KeySchema.map(({ AttributeName }) => `${AttributeName} ${typeOf(AttributeName)}`).join(', ');
}

async function becomes(
  client: DynamoClient,
  name: string,
  sleeper: Sleeper,
  isReady: (table: TableDescription) => boolean,
): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const { Table = {} } = await client.send(new DescribeTableCommand({ TableName: name }));
    if (isReady(Table)) return;
    await sleeper.sleep(POLL_MS);
  }
  throw new Fault('unavailable', `the table "${name}" is not active after ${(POLLS_MAX * POLL_MS) / 1000} s`);
}

async function unless(name: string, work: Promise<unknown>): Promise<void> {
  await work.catch((thrown: unknown) => {
    if ((thrown as Error).name !== name) throw thrown;
  });
}
