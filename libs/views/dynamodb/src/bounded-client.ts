import type { ServiceInputTypes, ServiceOutputTypes } from '@aws-sdk/client-dynamodb';
import type { Sleeper } from '@tidemark/libs-kernel';
import type { DynamoClient, DynamoCommand, SendOptions } from './client.ts';

/** For one request. */
export const ATTEMPT_MS_MAX = 5000;
/** For a call with all that the SDK repeats of it. */
export const OPERATION_MS_MAX = 15_000;

/** Gives up a call, as one that nobody answered, after OPERATION_MS_MAX; what was sent of a write may have been done. */
export function boundedClient(client: DynamoClient, sleeper: Sleeper): DynamoClient {
  return {
    async send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
      command: DynamoCommand<Input, Output>,
      { abortSignal }: SendOptions = {},
    ): Promise<Output> {
      const [late, ended] = [new AbortController(), new AbortController()];
      void sleeper.sleep(OPERATION_MS_MAX, ended.signal).then(() => {
        if (!ended.signal.aborted) late.abort();
      });
      const either = abortSignal === undefined ? late.signal : AbortSignal.any([abortSignal, late.signal]);
      try {
        return await client.send(command, { abortSignal: either });
      } finally {
        ended.abort();
      }
    },
  };
}
