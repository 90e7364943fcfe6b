import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createLeasesTable, enableStream } from '@tidemark/libs-feed-dynamodb-streams';
import { createViewsTable } from '@tidemark/libs-views-dynamodb';
import { dynamodbEnv } from './relay-dynamodb.ts';

/** The settings of a relay and a fold worker on new tables of their own, the log's with a stream. */
export async function dynamodbFoldEnv(endpoint: string): Promise<Record<string, string>> {
  const ofRelay = await dynamodbEnv(endpoint);
  const credentials = { accessKeyId: 'e2e', secretAccessKey: 'e2e' };
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });
  const sleeper = { sleep: (ms: number) => sleep(ms) };
  const opsTable = ofRelay.RELAY_DYNAMODB_TABLE as string;
  const [leases, views] = [`leases_${randomUUID()}`, `views_${randomUUID()}`];
  await enableStream(client, opsTable, sleeper);
  await createLeasesTable(client, leases, sleeper);
  await createViewsTable(client, views, sleeper);
  client.destroy();
  return {
    ...ofRelay,
    FOLD_OP_STORE: 'dynamodb',
    FOLD_OPS_TABLE: opsTable,
    FOLD_FEED: 'dynamodb-streams',
    FOLD_LEASES_TABLE: leases,
    FOLD_VIEWS: 'dynamodb',
    FOLD_VIEWS_TABLE: views,
  };
}
