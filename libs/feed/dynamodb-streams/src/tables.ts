import {
  type CreateTableCommandInput,
  DescribeTableCommand,
  type TableDescription,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import {
  createTable,
  type DynamoClient,
  type TableKey,
  tableDefinition,
  waitForTable,
} from '@tidemark/libs-driver-dynamodb';
import type { Sleeper } from '@tidemark/libs-kernel';

/** Of the relay's table: a stream, and the place in it. */
export const OPS_KEY = [
  ['stream_id', 'S'],
  ['seq', 'N'],
] as const satisfies TableKey;
/** Of the leases: a fold's name, and what is leased. */
export const LEASES_KEY = [
  ['fold', 'S'],
  ['leaseKey', 'S'],
] as const satisfies TableKey;

/** What makes the leases table; `aws dynamodb create-table` takes the same. It needs no stream, index or time to live. */
export function leasesTable(name: string): CreateTableCommandInput {
  return tableDefinition(name, LEASES_KEY);
}

/** Makes the table and waits until it takes writes; one that is there already is left as it is. For stand-ins and tests. */
export async function createLeasesTable(client: DynamoClient, name: string, sleeper: Sleeper): Promise<void> {
  await createTable(client, leasesTable(name), sleeper);
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
  await waitForTable(client, table, sleeper, isOn);
}
