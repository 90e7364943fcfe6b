import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { createTable, type DynamoClient, type TableKey, tableDefinition } from '@tidemark/libs-driver-dynamodb';
import type { Sleeper } from '@tidemark/libs-kernel';

const VIEWS_KEY: TableKey = [
  ['stream_id', 'S'],
  ['sk', 'S'],
];

/** What makes the table; `aws dynamodb create-table` takes the same. No index, no stream, no time to live. */
export function viewsTable(name: string): CreateTableCommandInput {
  return tableDefinition(name, VIEWS_KEY);
}

/**
 * Makes the table and waits until it takes writes; one that is there already is left as it is. For stand-ins and tests: the table of a
 * deployment is made by the deployment, and a worker never makes any.
 */
export async function createViewsTable(client: DynamoClient, name: string, sleeper: Sleeper): Promise<void> {
  await createTable(client, viewsTable(name), sleeper);
}
