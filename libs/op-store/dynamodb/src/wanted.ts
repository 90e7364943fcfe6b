import type { SendOptions } from '@tidemark/libs-driver-dynamodb';

/** Nobody waits any longer for what was asked. */
export class Unwanted extends Error {
  constructor() {
    super('unwanted');
  }
}

/**
 * The result of the calls, or Unwanted as soon as the signal aborts: before they begin, or while they run, and then whatever they come to.
 * They are told of it, too.
 */
export async function whileWanted<T>(
  unwanted: AbortSignal | undefined,
  calls: (options: SendOptions) => Promise<T>,
): Promise<T> {
  if (unwanted === undefined) return calls({});
  if (unwanted.aborted) throw new Unwanted();
  let stop = (): void => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new Unwanted());
    unwanted.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([calls({ abortSignal: unwanted }), stopped]);
  } catch (thrown) {
    // A call that was told may say so first, in its own words.
    throw unwanted.aborted ? new Unwanted() : thrown;
  } finally {
    unwanted.removeEventListener('abort', stop);
  }
}
