import { randomUUID } from 'node:crypto';
import { type AttributeValue, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { keyOf } from './keys.ts';
import { createViewsTable } from './tables.ts';

/** Stand-ins take any credentials, but want some. */
export const SPEC_AWS = { region: 'us-east-1', credentials: { accessKeyId: 'spec', secretAccessKey: 'spec' } };

const opened = new Map<string, DynamoDBClient>();
afterAll(() => opened.forEach((client) => client.destroy()));

/** One for all tests that ask alike: making one takes longer than a small test. */
export function specClient(endpoint: string, maxAttempts = 3): DynamoDBClient {
  const key = `${endpoint} ${maxAttempts}`;
  const client = opened.get(key) ?? new DynamoDBClient({ ...SPEC_AWS, endpoint, maxAttempts });
  opened.set(key, client);
  return client;
}

/** A table of its own in a stand-in, for one test. */
export interface SpecTable {
  readonly client: DynamoDBClient;
  readonly table: string;
  item(stream: string, sk: string): Promise<Record<string, AttributeValue> | undefined>;
}

export async function specTable(endpoint: string): Promise<SpecTable> {
  const client = specClient(endpoint);
  const table = `views_${randomUUID()}`;
  await createViewsTable(client, table, { sleep: async () => {} });
  return {
    client,
    table,
    item: async (stream, sk) => {
      const command = new GetItemCommand({ TableName: table, Key: keyOf(stream, sk), ConsistentRead: true });
      return (await client.send(command)).Item;
    },
  };
}
