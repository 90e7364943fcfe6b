/** The URL that clients are given; {@link frontFetch} puts a replica in its place. */
export const FRONT = 'http://front';

/**
 * What a load balancer does: each request goes to the next of the replicas, and one that takes no connection is passed over. A request that
 * a replica took and never answered fails: whether it may be sent again is for the client to know.
 */
export function frontFetch(replicas: () => readonly string[], send: typeof fetch): typeof fetch {
  let turn = 0;
  return async (input, init) => {
    const urls = replicas();
    for (let tried = 1; ; tried++) {
      const url = urls[turn++ % urls.length] ?? FRONT;
      try {
        return await send(String(input).replace(FRONT, url), init);
      } catch (error) {
        if (tried >= urls.length || !isRefused(error)) throw error;
      }
    }
  };
}

function isRefused(error: unknown): boolean {
  const cause = (error as Error).cause as { readonly code?: string } | undefined;
  return cause?.code === 'ECONNREFUSED';
}
