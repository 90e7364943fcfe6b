import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTables } from '@tidemark/libs-op-store-dynamodb/tables';

/** The settings of a relay on new tables of its own; `through`, when given, is another way to the same DynamoDB. */
export async function dynamodbEnv(endpoint: string, through = endpoint): Promise<Record<string, string>> {
  const credentials = { accessKeyId: 'e2e', secretAccessKey: 'e2e' };
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });
  const id = randomUUID();
  const names = { opsTable: `ops_${id}`, registryTable: `registry_${id}` };
  await createTables(client, names, { sleep: (ms) => sleep(ms) });
  client.destroy();
  return {
    RELAY_STORE: 'dynamodb',
    DYNAMODB_ENDPOINT: through,
    RELAY_DYNAMODB_TABLE: names.opsTable,
    RELAY_DYNAMODB_REGISTRY_TABLE: names.registryTable,
  };
}
