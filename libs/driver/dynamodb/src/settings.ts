import { ATTEMPT_MS_MAX } from './bounded-client.ts';

export interface DynamodbPlace {
  /** Of a stand-in; without it AWS, found by the region. */
  readonly endpoint?: string | undefined;
  /** Default: what the SDK finds in its environment. */
  readonly region?: string | undefined;
  /** Default: what the SDK finds in its environment. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

/** As the SDK's clients take it. */
export function placeSettings({ endpoint, region, credentials }: DynamodbPlace) {
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials }),
  };
}

const CONNECT_MS_MAX = 2000;

/** The SDK repeats a call that was throttled, or that nobody answered, twice. */
const ATTEMPTS_MAX = 3;

/** Of an SDK client that boundedClient is laid around. `callsMax`: in flight at most; more wait for a connection. */
export function clientSettings(place: DynamodbPlace, callsMax: number) {
  return {
    ...placeSettings(place),
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
