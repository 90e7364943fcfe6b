import { randomUUID } from 'node:crypto';
import { type AttributeValue, DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { createTables, type TableNames } from './tables.ts';

/** Stand-ins take any credentials, but want some. */
export const SPEC_AWS = { region: 'us-east-1', credentials: { accessKeyId: 'spec', secretAccessKey: 'spec' } };

export type SpecItem = Record<string, AttributeValue>;

/** Two tables of its own in a stand-in, for one test. */
export interface SpecTables extends TableNames {
  readonly client: DynamoDBClient;
  /** Every item of a table. */
  items(table: string): Promise<SpecItem[]>;
  put(table: string, item: SpecItem): Promise<void>;
}

const opened = new Set<DynamoDBClient>();
afterAll(() => opened.forEach((client) => client.destroy()));

export function specClient(endpoint: string, maxAttempts = 3): DynamoDBClient {
  const client = new DynamoDBClient({ ...SPEC_AWS, endpoint, maxAttempts });
  opened.add(client);
  return client;
}

export async function specTables(endpoint: string): Promise<SpecTables> {
  const client = specClient(endpoint);
  const id = randomUUID();
  const names = { opsTable: `ops_${id}`, registryTable: `registry_${id}` };
  await createTables(client, names, { sleep: async () => {} });
  return {
    ...names,
    client,
    items: async (table) => {
      const { Items = [] } = await client.send(new ScanCommand({ TableName: table, ConsistentRead: true }));
      return Items;
    },
    put: async (table, Item) => void (await client.send(new PutItemCommand({ TableName: table, Item }))),
  };
}
