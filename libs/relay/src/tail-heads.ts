import type { ChangeIndex, ChangePage, OpStore, StreamHead } from '@tidemark/libs-op-store-contract';

/** Streams that are asked at the same time. */
const AT_ONCE = 16;

/**
 * The streams that readers wait for, each asked for its head: for a store that cannot say what changed. One request for each such stream
 * at every look, whatever happened; none for the others.
 */
export function headsOfWaited(opStore: Pick<OpStore, 'head'>, waited: () => readonly string[]): ChangeIndex {
  const headOf = async (stream: string): Promise<StreamHead> => ({ stream, head: await opStore.head(stream) });
  return {
    position: async () => '',
    changes: async (position): Promise<ChangePage> => {
      const streams = waited();
      const changed: StreamHead[] = [];
      for (let at = 0; at < streams.length; at += AT_ONCE)
        changed.push(...(await Promise.all(streams.slice(at, at + AT_ONCE).map(headOf))));
      return { changed, position };
    },
  };
}
