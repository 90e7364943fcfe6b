import {
  type $Command,
  DynamoDBClient,
  type DynamoDBClientResolvedConfig,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-dynamodb';
import { Fault } from '@tidemark/libs-kernel';

export type DynamoCommand<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = $Command<
  Input,
  Output,
  DynamoDBClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>;

/**
 * What this adapter uses of the SDK's DynamoDBClient, which is one. Whatever it throws is judged by `name`, `code` and `$metadata` alone,
 * so anything that answers the same commands may stand in for it.
 */
export interface DynamoClient {
  send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    command: DynamoCommand<Input, Output>,
    options?: { readonly abortSignal?: AbortSignal },
  ): Promise<Output>;
  destroy(): void;
}

export interface ClientOptions {
  /** Of a stand-in; without it AWS, found by the region. */
  readonly endpoint?: string | undefined;
  /** Default: what the SDK finds in its environment. Without any, `misconfigured`. */
  readonly region?: string | undefined;
  /** Default: what the SDK finds in its environment. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

/** One attempt for each call: TableCalls repeats, since it knows how much time is left. A socket for every call that may run. */
export async function openClient(options: ClientOptions, callsMax: number): Promise<DynamoDBClient> {
  const { endpoint, region, credentials } = options;
  const client = new DynamoDBClient({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials }),
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
