import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { DynamoClient } from './client.ts';
import { nameOf } from './meaning.ts';

type KeyPart = readonly [attribute: string, type: 'S' | 'N'];

/** What finds an item: its partition and, if the table has one, its place in it. */
export type TableKey = readonly [partition: KeyPart, sort?: KeyPart];

/** What makes a table that is paid by the request; `aws dynamodb create-table` takes the same. */
export function tableDefinition(name: string, key: TableKey): CreateTableCommandInput {
  const parts = key.filter((part) => part !== undefined);
  return {
    TableName: name,
    AttributeDefinitions: parts.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: parts.map(([AttributeName], i) => ({ AttributeName, KeyType: i === 0 ? 'HASH' : 'RANGE' })),
    BillingMode: 'PAY_PER_REQUEST',
  };
}

/** `stream_id S, seq N`. */
export function keyText(table: Pick<TableDescription, 'KeySchema' | 'AttributeDefinitions'>): string {
  const { KeySchema = [], AttributeDefinitions = [] } = table;
  const typeOf = (name: string | undefined) =>
    AttributeDefinitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType ?? '?';
  return KeySchema.map(({ AttributeName }) => `${AttributeName} ${typeOf(AttributeName)}`).join(', ');
}

/**
 * Makes the table and waits until it takes writes; one that is there already is left as it is. Resolves to whether it is new. For stand-ins
 * and tests: tables of a deployment are made by the deployment, and a service never makes any.
 */
export async function createTable(
  client: DynamoClient,
  definition: CreateTableCommandInput,
  sleeper: Sleeper,
): Promise<boolean> {
  const isNew = await client.send(new CreateTableCommand(definition)).then(
    () => true,
    (thrown: unknown) => {
      if (nameOf(thrown) === 'ResourceInUseException') return false;
      throw thrown;
    },
  );
  await waitForTable(client, definition.TableName ?? '', sleeper, ({ TableStatus }) => TableStatus === 'ACTIVE');
  return isNew;
}

const POLL_MS = 500;
const POLLS_MAX = 240;

/** Until the table is as it is wanted; fault `unavailable` after two minutes. */
export async function waitForTable(
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
