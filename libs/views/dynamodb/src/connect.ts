import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Random, Sleeper } from '@tidemark/libs-kernel';
import type { Views } from '@tidemark/libs-views-contract';
import { ATTEMPT_MS_MAX, boundedClient } from './bounded-client.ts';
import { probe } from './probe.ts';
import { dynamoViews } from './views.ts';

export interface DynamodbViewsOptions {
  /** The views table, which the deployment makes. */
  readonly table: string;
  /** Of a stand-in; without it AWS, found by the region. */
  readonly endpoint?: string | undefined;
  /** Default: what the SDK finds in its environment. */
  readonly region?: string | undefined;
  /** Default: what the SDK finds in its environment. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  readonly sleeper: Sleeper;
  readonly random: Random;
  /** Requests in flight at most; more wait for a connection. Default 100. */
  readonly callsMax?: number;
  /** Requests of one call that run beside each other. Default 16. */
  readonly parallelMax?: number;
}

/**
 * Views in one DynamoDB table. Refuses to open, `misconfigured`, where the table is missing or has another key, or a right is missing;
 * nothing is written for that.
 */
export async function connectDynamodbViews(options: DynamodbViewsOptions): Promise<Views> {
  const { table, sleeper, random, parallelMax } = options;
  const sdk = openClient(options);
  const client = boundedClient(sdk, sleeper);
  try {
    await probe({ client, table, sleeper, random });
    const views = dynamoViews({ client, table, ...(parallelMax === undefined ? {} : { parallelMax }) });
    const close = async (): Promise<void> => {
      await views.close();
      sdk.destroy();
    };
    return { ...views, close };
  } catch (thrown) {
    sdk.destroy();
    throw thrown;
  }
}

const CONNECT_MS_MAX = 2000;

/** The SDK repeats a call that was throttled, or that nobody answered, twice. */
const ATTEMPTS_MAX = 3;

function openClient({ endpoint, region, credentials, callsMax = 100 }: DynamodbViewsOptions): DynamoDBClient {
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
