import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { boundedClient, clientSettings, type DynamoClient, type DynamodbPlace } from '@tidemark/libs-driver-dynamodb';
import type { Random, Sleeper } from '@tidemark/libs-kernel';
import type { Views } from '@tidemark/libs-views-contract';
import { probe } from './probe.ts';
import { dynamoViews } from './views.ts';

export interface DynamodbViewsOptions extends DynamodbPlace {
  /** The views table, which the deployment makes. */
  readonly table: string;
  readonly sleeper: Sleeper;
  readonly random: Random;
  /** Requests in flight at most; more wait for a connection. Default 100. */
  readonly callsMax?: number;
  /** Requests of one call that run beside each other. Default 16. */
  readonly parallelMax?: number;
}

const CALLS_MAX = 100;

/**
 * Views in one DynamoDB table. Refuses to open, `misconfigured`, where the table is missing or has another key, or a right is missing;
 * nothing is written for that.
 */
export async function connectDynamodbViews(options: DynamodbViewsOptions): Promise<Views> {
  const { table, sleeper, random, callsMax = CALLS_MAX, parallelMax } = options;
  const sdk = new DynamoDBClient(clientSettings(options, callsMax));
  const client = boundedClient<DynamoClient>(sdk, sleeper);
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
