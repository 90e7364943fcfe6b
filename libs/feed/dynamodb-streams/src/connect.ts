import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import type { Feed } from '@tidemark/libs-feed-contract';
import { ATTEMPT_MS_MAX, boundedClient } from './bounded-client.ts';
import type { DynamoClient, StreamsClient } from './client.ts';
import { dynamodbStreamsFeed } from './feed.ts';
import type { DynamodbStreamsFeedOptions } from './options.ts';
import { probe } from './probe.ts';

export interface DynamodbStreamsOptions extends Omit<DynamodbStreamsFeedOptions, 'client' | 'streams'> {
  /** Of a stand-in, for tables and streams; without it AWS, found by the region. */
  readonly endpoint?: string | undefined;
  /** Default: what the SDK finds in its environment. */
  readonly region?: string | undefined;
  /** Default: what the SDK finds in its environment. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Calls in flight at most, of each of the two services. Default 64. */
  readonly callsMax?: number;
}

/**
 * A feed of the ops table's stream, which any number of workers share by a leases table; the deployment makes both. Refuses to open,
 * `misconfigured`, where a table is missing or has another key, the ops table has no stream, a right is missing, or the fold's name is used
 * with another ops table; nothing is written for that. Closing the feed gives its leases back, and closes the connections.
 */
export async function connectDynamodbStreams(options: DynamodbStreamsOptions): Promise<Feed> {
  const sdk = { client: new DynamoDBClient(settings(options)), streams: new DynamoDBStreamsClient(settings(options)) };
  const destroy = (): void => {
    sdk.client.destroy();
    sdk.streams.destroy();
  };
  const parts = {
    ...options,
    client: boundedClient<DynamoClient>(sdk.client, options.sleeper),
    streams: boundedClient<StreamsClient>(sdk.streams, options.sleeper),
  };
  try {
    await probe(parts);
  } catch (thrown) {
    destroy();
    throw thrown;
  }
  const feed = dynamodbStreamsFeed(parts);
  return {
    read: (max, waitMs, signal) => feed.read(max, waitMs, signal),
    checkpoint: (position) => feed.checkpoint(position),
    ping: () => feed.ping(),
    close: async () => {
      await feed.close();
      destroy();
    },
  };
}

const CONNECT_MS_MAX = 2000;

/** The SDK repeats a call that was throttled, or that nobody answered, twice. */
const ATTEMPTS_MAX = 3;

function settings({ endpoint, region, credentials, callsMax = 64 }: DynamodbStreamsOptions) {
  return {
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
  };
}
