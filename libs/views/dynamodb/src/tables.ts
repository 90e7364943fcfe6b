import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { DynamoClient } from './client.ts';

const POLL_MS = 500;
const POLLS_MAX = 240;

/** What makes the table; `aws dynamodb create-table` takes the same. No index, no stream, no time to live. */
export function viewsTable(name: string): CreateTableCommandInput {
  return {
    TableName: name,
    AttributeDefinitions: [
      { AttributeName: 'stream_id', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'stream_id', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    BillingMode: 'PAY_PER_REQUEST',
  };
}

/**
 * Makes the table and waits until it takes writes; one that is there already is left as it is. For stand-ins and tests: the table of a
 * deployment is made by the deployment, and a worker never makes any.
 */
export async function createViewsTable(client: DynamoClient, name: string, sleeper: Sleeper): Promise<void> {
  await client.send(new CreateTableCommand(viewsTable(name))).catch((thrown: unknown) => {
    if ((thrown as Error).name !== 'ResourceInUseException') throw thrown;
  });
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    if (Table?.TableStatus === 'ACTIVE') return;
    await sleeper.sleep(POLL_MS);
  }
  throw new Fault('unavailable', `the table "${name}" is not active after ${(POLLS_MAX * POLL_MS) / 1000} s`);
}

/** `stream_id S, sk S`. */
export function keyText({ KeySchema = [], AttributeDefinitions = [] }: TableDescription): string {
  const typeOf = (name: string | undefined) =>
    AttributeDefinitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType ?? '?';
  return KeySchema.map(({ AttributeName }) => `${AttributeName} ${typeOf(AttributeName)}`).join(', ');
}
