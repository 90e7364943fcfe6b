import { type AttributeValue, type CreateTableCommandInput, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { createTable, type DynamoClient, tableDefinition } from '@tidemark/libs-driver-dynamodb';
import type { Sleeper } from '@tidemark/libs-kernel';

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

/** What makes the table; `aws dynamodb create-table` takes the same. */
export function dedupeTableDefinition(table: string): CreateTableCommandInput {
  return tableDefinition(table, [['pk', 'S']]);
}

/**
 * Makes the table, with its TTL, and waits until it takes writes; one that is there already is left as it is. For stand-ins and tests: the
 * table of a deployment is made by the deployment, and a service never makes any.
 */
export async function createDedupeTable(client: DynamoClient, table: string, sleeper: Sleeper): Promise<void> {
  if (!(await createTable(client, dedupeTableDefinition(table), sleeper))) return;
  const TimeToLiveSpecification = { Enabled: true, AttributeName: TTL_ATTRIBUTE };
  await client.send(new UpdateTimeToLiveCommand({ TableName: table, TimeToLiveSpecification }));
}
