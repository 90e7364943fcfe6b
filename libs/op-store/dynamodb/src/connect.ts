import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { boundedClient, clientSettings, type DynamoClient, type DynamodbPlace } from '@tidemark/libs-driver-dynamodb';
import type { OpStore, PrefixRegistry, PresenceBoard } from '@tidemark/libs-op-store-contract';
import { type DynamoOpStoreOptions, dynamoOpStore } from './op-store.ts';
import { dynamodbPrefixRegistry } from './prefix-registry.ts';
import { dynamodbPresenceBoard } from './presence-board.ts';
import { probe, probeToRead } from './probe.ts';
import type { TableNames } from './tables.ts';

interface Place extends DynamodbPlace {
  /** Calls in flight at most; more wait for a connection. Default 200. */
  readonly callsMax?: number;
}

type StoreOptions = Omit<DynamoOpStoreOptions, 'client' | 'table'> & Place;

export type DynamodbOptions = StoreOptions & TableNames;

/** The log for who reads it and writes nothing. `setting`: of the service, the one that names the table. */
export type DynamodbLogOptions = StoreOptions & { readonly opsTable: string; readonly setting: string };

export interface DynamodbStores {
  readonly opStore: OpStore;
  readonly prefixRegistry: PrefixRegistry;
  readonly presenceBoard: PresenceBoard;
  /** Closes the connections that the three share, as opStore.close() does. */
  close(): Promise<void>;
}

/**
 * Op log, prefix claims and presence in two DynamoDB tables, which the deployment makes: see docs/operating/dynamodb.md. Refuses to open,
 * `misconfigured`, where a table is missing or has another key, or a right is missing; nothing is written for that.
 */
export async function connectDynamodb(options: DynamodbOptions): Promise<DynamodbStores> {
  const { registryTable } = options;
  const { opStore, parts } = await opened(options, (client) => probe({ ...options, client }));
  return {
    opStore,
    prefixRegistry: dynamodbPrefixRegistry({ ...parts, table: registryTable }),
    presenceBoard: dynamodbPresenceBoard({ ...parts, table: registryTable }),
    close: () => opStore.close(),
  };
}

/** The op log alone, to be read; rights to write are neither asked for nor used. Refuses to open as connectDynamodb does. */
export async function connectDynamodbLog(options: DynamodbLogOptions): Promise<OpStore> {
  const { opsTable, setting } = options;
  return (await opened(options, (client) => probeToRead({ ...options, client }, opsTable, setting))).opStore;
}

const CALLS_MAX = 200;

/** On one client, which the store's close ends. */
async function opened<O extends StoreOptions & { readonly opsTable: string }>(
  options: O,
  look: (client: DynamoClient) => Promise<void>,
) {
  const sdk = new DynamoDBClient(clientSettings(options, options.callsMax ?? CALLS_MAX));
  const parts = { ...options, client: boundedClient<DynamoClient>(sdk, options.sleeper) };
  const opStore = dynamoOpStore({ ...parts, table: options.opsTable });
  const close = async (): Promise<void> => {
    await opStore.close();
    sdk.destroy();
  };
  try {
    await look(parts.client);
    return { opStore: { ...opStore, close }, parts };
  } catch (thrown) {
    sdk.destroy();
    throw thrown;
  }
}
