import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { OpStore, PrefixRegistry, PresenceBoard } from '@tidemark/libs-op-store-contract';
import { ATTEMPT_MS_MAX, boundedClient } from './bounded-client.ts';
import { type DynamoOpStoreOptions, dynamoOpStore } from './op-store.ts';
import { dynamodbPrefixRegistry } from './prefix-registry.ts';
import { dynamodbPresenceBoard } from './presence-board.ts';
import { probe } from './probe.ts';
import type { TableNames } from './tables.ts';

export interface DynamodbOptions extends Omit<DynamoOpStoreOptions, 'client' | 'table'>, TableNames {
  /** Of a stand-in; without it AWS, found by the region. */
  readonly endpoint?: string | undefined;
  /** Default: what the SDK finds in its environment. */
  readonly region?: string | undefined;
  /** Default: what the SDK finds in its environment. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Calls in flight at most; more wait for a connection. Default 200. */
  readonly callsMax?: number;
}

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
  const { opsTable, registryTable } = options;
  const sdk = openClient(options);
  const client = boundedClient(sdk, options.sleeper);
  const parts = { ...options, client };
  const opStore = dynamoOpStore({ ...parts, table: opsTable });
  const close = async (): Promise<void> => {
    await opStore.close();
    sdk.destroy();
  };
  try {
    await probe(parts);
    return {
      opStore: { ...opStore, close },
      prefixRegistry: dynamodbPrefixRegistry({ ...parts, table: registryTable }),
      presenceBoard: dynamodbPresenceBoard({ client, table: registryTable }),
      close,
    };
  } catch (thrown) {
    sdk.destroy();
    throw thrown;
  }
}

const CONNECT_MS_MAX = 2000;

/** The SDK repeats a call that was throttled, or that nobody answered, twice. */
const ATTEMPTS_MAX = 3;

function openClient({ endpoint, region, credentials, callsMax = 200 }: DynamodbOptions): DynamoDBClient {
  return new DynamoDBClient({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials }),
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: {
      requestTimeout: ATTEMPT_MS_MAX,
      // Without this a slow request is only logged.
      throwOnRequestTimeout: true,
      connectionTimeout: CONNECT_MS_MAX,
      httpsAgent: { maxSockets: callsMax },
      httpAgent: { maxSockets: callsMax },
    },
  });
}
