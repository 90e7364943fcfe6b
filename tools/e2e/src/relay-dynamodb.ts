import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { createTables } from '@tidemark/libs-op-store-dynamodb/tables';

const open = (endpoint: string) =>
  new DynamoDBClient({ endpoint, region: 'us-east-1', credentials: { accessKeyId: 'e2e', secretAccessKey: 'e2e' } });

/** The settings of a relay on new tables of its own; `through`, when given, is another way to the same DynamoDB. */
export async function dynamodbEnv(endpoint: string, through = endpoint): Promise<Record<string, string>> {
  const client = open(endpoint);
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

/** Takes the next seq of a stream as a relay of another make does, which then never stores anything there. */
export async function burnSeq(endpoint: string, table: string | undefined, stream: string): Promise<void> {
  const client = open(endpoint);
  await client.send(
    new UpdateItemCommand({
      TableName: table,
      Key: { stream_id: { S: stream }, seq: { N: '0' } },
      UpdateExpression: 'ADD next_seq :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
    }),
  );
  client.destroy();
}
