import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTables, type TableNames } from '@tidemark/libs-op-store-dynamodb/tables';
import { type FaultProxy, startFaultProxy, startServices } from '@tidemark/tools-services';

/** Where a benchmark finds DynamoDB. */
export interface Place {
  readonly name: string;
  /** Before the stand-in; null on AWS, which is slow and bounded by itself. */
  readonly proxy: FaultProxy | null;
  /** Without the proxy. */
  readonly direct: DynamoDBClient;
  /** As a relay would go. */
  openClient(): DynamoDBClient;
  /** Of a relay on these tables. */
  settings(tables: TableNames): Record<string, string>;
  newTables(): Promise<TableNames>;
  /** Removes the tables on AWS; the stand-in goes as a whole. */
  close(): Promise<void>;
}

const STAND_IN = { region: 'us-east-1', credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' } };

/** AWS where the environment holds a region and credentials, and no DYNAMODB_ENDPOINT; else a stand-in behind the fault proxy. */
export async function openPlace(): Promise<Place> {
  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_PROFILE, DYNAMODB_ENDPOINT } = process.env;
  const place =
    AWS_REGION && (AWS_ACCESS_KEY_ID || AWS_PROFILE) && !DYNAMODB_ENDPOINT ? onAws(AWS_REGION) : await onStandIn();
  console.log(`DynamoDB: ${place.name}`);
  return place;
}

function onAws(region: string): Place {
  const direct = new DynamoDBClient({ region });
  const made: string[] = [];
  return {
    name: `AWS, ${region}`,
    proxy: null,
    direct,
    openClient: () => new DynamoDBClient({ region }),
    settings: (tables) => ({ ...settingsOf(tables), AWS_REGION: region }),
    newTables: async () => {
      const tables = await makeTables(direct);
      made.push(tables.opsTable, tables.registryTable);
      return tables;
    },
    close: async () => {
      for (const TableName of made) await direct.send(new DeleteTableCommand({ TableName }));
      direct.destroy();
    },
  };
}

async function onStandIn(): Promise<Place> {
  const { dynamodb, stop } = await startServices({ dynamodb: true });
  if (dynamodb.kind === 'absent') throw new Error(dynamodb.reason);
  const proxy = await startFaultProxy(dynamodb.endpoint);
  const direct = new DynamoDBClient({ ...STAND_IN, endpoint: dynamodb.endpoint });
  return {
    name: 'the stand-in behind the fault proxy',
    proxy,
    direct,
    openClient: () => new DynamoDBClient({ ...STAND_IN, endpoint: proxy.endpoint }),
    settings: (tables) => ({ ...settingsOf(tables), DYNAMODB_ENDPOINT: proxy.endpoint }),
    newTables: () => makeTables(direct),
    close: async () => {
      direct.destroy();
      await proxy.close();
      await stop();
    },
  };
}

const settingsOf = ({ opsTable, registryTable }: TableNames) => ({
  RELAY_STORE: 'dynamodb',
  RELAY_DYNAMODB_TABLE: opsTable,
  RELAY_DYNAMODB_REGISTRY_TABLE: registryTable,
});

async function makeTables(client: DynamoDBClient): Promise<TableNames> {
  const id = randomUUID();
  const names = { opsTable: `bench_ops_${id}`, registryTable: `bench_registry_${id}` };
  await createTables(client, names, { sleep: (ms) => sleep(ms) });
  return names;
}
