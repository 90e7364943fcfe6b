import type { Sleeper } from '@tidemark/libs-kernel';

/** For one request. */
export const ATTEMPT_MS_MAX = 5000;
/** For a call with all that the SDK repeats of it. */
export const OPERATION_MS_MAX = 15_000;

interface Sender {
  send(command: unknown, options: { readonly abortSignal: AbortSignal }): Promise<unknown>;
}

/** Gives up a call, as one that nobody answered, after OPERATION_MS_MAX; what was sent of a write may have been done. */
export function boundedClient<Client>(client: Client, sleeper: Sleeper): Client {
  const bounded = {
    async send(command: unknown, { abortSignal }: { readonly abortSignal?: AbortSignal } = {}): Promise<unknown> {
      const [late, ended] = [new AbortController(), new AbortController()];
      void sleeper.sleep(OPERATION_MS_MAX, ended.signal).then(() => {
        if (!ended.signal.aborted) late.abort();
      });
      const either = abortSignal === undefined ? late.signal : AbortSignal.any([abortSignal, late.signal]);
      try {
        return await (client as Sender).send(command, { abortSignal: either });
      } finally {
        ended.abort();
      }
    },
  };
  return bounded as Client;
}
