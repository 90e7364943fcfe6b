import { randomUUID } from 'node:crypto';
import { CreateTableCommand, DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '@tidemark/libs-driver-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import type { LeaseRow } from './lease-row.ts';
import { LeaseTable } from './lease-table.ts';
import { createLeasesTable, enableStream, OPS_KEY } from './tables.ts';

/** Stand-ins take any credentials, but want some. */
export const SPEC_AWS = { region: 'us-east-1', credentials: { accessKeyId: 'spec', secretAccessKey: 'spec' } };

export interface SpecTables {
  readonly opsTable: string;
  readonly leasesTable: string;
  readonly client: DynamoDBClient;
  readonly streams: DynamoDBStreamsClient;
  /** Ops through `head`, each with the counter, as a relay writes them. */
  append(stream: string, head: bigint): Promise<void>;
  /** Rows of the fold `fold`, by leaseKey. */
  leases(): Promise<Map<string, LeaseRow>>;
}

const opened: { destroy(): void }[] = [];
afterAll(() => opened.forEach((client) => client.destroy()));

const AT_ONCE = { sleep: async () => {} };

export function specClients(endpoint: string) {
  const client = new DynamoDBClient({ ...SPEC_AWS, endpoint });
  const streams = new DynamoDBStreamsClient({ ...SPEC_AWS, endpoint });
  opened.push(client, streams);
  return { client, streams };
}

/** Two tables of its own in a stand-in, for one test. */
export async function specTables(endpoint: string, withStream = true): Promise<SpecTables> {
  const { client, streams } = specClients(endpoint);
  const id = randomUUID();
  const names = { opsTable: `ops_${id}`, leasesTable: `leases_${id}` };
  await client.send(new CreateTableCommand(tableDefinition(names.opsTable, OPS_KEY)));
  if (withStream) await enableStream(client, names.opsTable, AT_ONCE);
  await createLeasesTable(client, names.leasesTable, AT_ONCE);
  const heads = new Map<string, bigint>();
  const append = async (stream: string, head: bigint): Promise<void> => {
    for (let seq = (heads.get(stream) ?? 0n) + 1n; seq <= head; seq++) {
      const put = (Item: object, at: bigint) => ({
        Put: { TableName: names.opsTable, Item: { stream_id: { S: stream }, seq: { N: String(at) }, ...Item } },
      });
      const TransactItems = [
        put({ next_seq: { N: String(seq) } }, 0n),
        put({ op_id: { S: String(seq) }, op_seq: { N: String(seq) } }, -seq),
        put({ op_id: { S: String(seq) } }, seq),
      ];
      await client.send(new TransactWriteItemsCommand({ TransactItems }));
    }
    heads.set(stream, head);
  };
  const leases = () => new LeaseTable(client, names.leasesTable, 'fold').rows();
  return { ...names, client, streams, append, leases };
}
