import {
  type AttributeValue,
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { DynamoClient } from './client.ts';

/**
 * An id of any tenant. Any number of services share the table.
 *
 * | attribute | type        | what                                                          |
 * |-----------|-------------|---------------------------------------------------------------|
 * | pk        | S, HASH key | the stored key                                                |
 * | st        | N           | 1 claimed, 2 committed                                        |
 * | ex        | N           | end of lease or retention, in Unix seconds; absent: never     |
 * | tk        | B           | 16 random bytes of the claim                                  |
 */
export type Item = Record<string, AttributeValue>;

export const TTL_ATTRIBUTE = 'ex';

const POLL_MS = 500;
const POLLS_MAX = 240;

/** What makes the table; `aws dynamodb create-table` takes the same. */
export function dedupeTableDefinition(table: string): CreateTableCommandInput {
  return {
    TableName: table,
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  };
}

/** `pk S`; with a sort key `pk S, sk N`. */
export function keyText({ KeySchema = [], AttributeDefinitions = [] }: TableDescription): string {
  const typeOf = (name: string | undefined) =>
    AttributeDefinitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType ?? '?';
  return KeySchema.map(({ AttributeName }) => `${AttributeName} ${typeOf(AttributeName)}`).join(', ');
}

/**
 * Makes the table, with its TTL, and waits until it takes writes; one that is there already is left as it is. For stand-ins and tests: the
 * table of a deployment is made by the deployment, and a service never makes any.
 */
export async function createDedupeTable(client: DynamoClient, table: string, sleeper: Sleeper): Promise<void> {
  if (!(await makeTable(client, table))) return;
  for (let polls = 0; !(await isActive(client, table)); polls++) {
    if (polls === POLLS_MAX) throw new Fault('unavailable', `the table "${table}" does not become active`);
    await sleeper.sleep(POLL_MS);
  }
  const TimeToLiveSpecification = { Enabled: true, AttributeName: TTL_ATTRIBUTE };
  await client.send(new UpdateTimeToLiveCommand({ TableName: table, TimeToLiveSpecification }));
}

/** Whether it was not there before. */
async function makeTable(client: DynamoClient, table: string): Promise<boolean> {
  try {
    await client.send(new CreateTableCommand(dedupeTableDefinition(table)));
    return true;
  } catch (thrown) {
    if ((thrown as Error).name === 'ResourceInUseException') return false;
    throw thrown;
  }
}

async function isActive(client: DynamoClient, table: string): Promise<boolean> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
  return Table?.TableStatus === 'ACTIVE';
}
