import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { DynamoClient } from './client.ts';

/** The two tables of a relay; any number of relays share them (RLY-18). */
export interface TableNames {
  /** Ops, claims and counters: `stream_id`, `seq`. */
  readonly opsTable: string;
  /** Prefixes and presence: `stream_id`, `sk`. */
  readonly registryTable: string;
}

interface Key {
  readonly name: string;
  readonly type: 'S' | 'N';
}

/** Partition key and sort key. */
export type TableKey = readonly [partition: Key, sort: Key];

export const OPS_KEY: TableKey = [
  { name: 'stream_id', type: 'S' },
  { name: 'seq', type: 'N' },
];
export const REGISTRY_KEY: TableKey = [
  { name: 'stream_id', type: 'S' },
  { name: 'sk', type: 'S' },
];

/** Machines that said nothing for long may be removed by the table itself; nothing depends on it. */
const TTL_ATTRIBUTE = 'expires_at';

const POLL_MS = 500;
const POLLS_MAX = 240;

/**
 * Makes both tables and waits until they take writes; one that is there already is left as it is. For stand-ins and tests: tables of a
 * deployment are made by the deployment, and a relay never makes any.
 */
export async function createTables(client: DynamoClient, names: TableNames, sleeper: Sleeper): Promise<void> {
  await createTable(client, names.opsTable, OPS_KEY, sleeper);
  const isNew = await createTable(client, names.registryTable, REGISTRY_KEY, sleeper);
  if (!isNew) return;
  const TimeToLiveSpecification = { Enabled: true, AttributeName: TTL_ATTRIBUTE };
  await client.send(new UpdateTimeToLiveCommand({ TableName: names.registryTable, TimeToLiveSpecification }));
}

/** What makes one of the tables; `aws dynamodb create-table` takes the same. */
export function tableDefinition(name: string, key: TableKey): CreateTableCommandInput {
  return {
    TableName: name,
    AttributeDefinitions: key.map((one) => ({ AttributeName: one.name, AttributeType: one.type })),
    KeySchema: key.map((one, i) => ({ AttributeName: one.name, KeyType: i === 0 ? 'HASH' : 'RANGE' })),
    BillingMode: 'PAY_PER_REQUEST',
  };
}

/** Whether the table has that key: the same names, types and order. */
export function hasKey(table: TableDescription, key: TableKey): boolean {
  return keyText(table) === keyText(tableDefinition('', key));
}

/** `stream_id S, seq N`. */
export function keyText({ KeySchema = [], AttributeDefinitions = [] }: TableDescription): string {
  const typeOf = (name: string | undefined) =>
    AttributeDefinitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType ?? '?';
  return KeySchema.map(({ AttributeName }) => `${AttributeName} ${typeOf(AttributeName)}`).join(', ');
}

async function createTable(client: DynamoClient, name: string, key: TableKey, sleeper: Sleeper): Promise<boolean> {
  const isNew = await client.send(new CreateTableCommand(tableDefinition(name, key))).then(
    () => true,
    (thrown: unknown) => {
      if ((thrown as Error).name === 'ResourceInUseException') return false;
      throw thrown;
    },
  );
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    if (Table?.TableStatus === 'ACTIVE') return isNew;
    await sleeper.sleep(POLL_MS);
  }
  throw new Fault('unavailable', `the table "${name}" is not active after ${(POLLS_MAX * POLL_MS) / 1000} s`);
}
