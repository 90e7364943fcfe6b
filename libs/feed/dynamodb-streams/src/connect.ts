import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { boundedClient, clientSettings, type DynamoClient, type DynamodbPlace } from '@tidemark/libs-driver-dynamodb';
import type { Feed } from '@tidemark/libs-feed-contract';
import type { StreamsClient } from './client.ts';
import { dynamodbStreamsFeed } from './feed.ts';
import type { DynamodbStreamsFeedOptions } from './options.ts';
import { probe } from './probe.ts';

/** The endpoint is one for tables and streams. */
export interface DynamodbStreamsOptions extends DynamodbPlace, Omit<DynamodbStreamsFeedOptions, 'client' | 'streams'> {
  /** Calls in flight at most, of each of the two services. Default 64. */
  readonly callsMax?: number;
}

const CALLS_MAX = 64;

/**
 * A feed of the ops table's stream, which any number of workers share by a leases table; the deployment makes both. Refuses to open,
 * `misconfigured`, where a table is missing or has another key, the ops table has no stream, a right is missing, or the fold's name is used
 * with another ops table; nothing is written for that. Closing the feed gives its leases back, and closes the connections.
 */
export async function connectDynamodbStreams(options: DynamodbStreamsOptions): Promise<Feed> {
  const settings = () => clientSettings(options, options.callsMax ?? CALLS_MAX);
  const sdk = { client: new DynamoDBClient(settings()), streams: new DynamoDBStreamsClient(settings()) };
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
