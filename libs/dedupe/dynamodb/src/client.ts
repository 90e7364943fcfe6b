import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type DynamoClient, type DynamodbPlace, placeSettings } from '@tidemark/libs-driver-dynamodb';
import { Fault } from '@tidemark/libs-kernel';

/** One that a store ends when it closes. */
export interface OwnClient extends DynamoClient {
  destroy(): void;
}

/** One attempt for each call: TableCalls repeats, since it knows how much time is left. A socket for every call that may run. Without a
 * region `misconfigured`. */
export async function openClient(place: DynamodbPlace, callsMax: number): Promise<DynamoDBClient> {
  const client = new DynamoDBClient({
    ...placeSettings(place),
    maxAttempts: 1,
    requestHandler: { httpAgent: agentOf(callsMax), httpsAgent: agentOf(callsMax) },
  });
  try {
    await client.config.region();
    return client;
  } catch (cause) {
    client.destroy();
    throw new Fault('misconfigured', 'the dedupe store has no AWS region: none is given, and the SDK finds none', {
      cause,
    });
  }
}

/** Sockets that are idle are kept: dialling anew would take a good part of a call's time. */
function agentOf(callsMax: number) {
  return { keepAlive: true, maxSockets: callsMax, maxFreeSockets: callsMax };
}
