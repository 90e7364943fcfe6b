import type { ChangePage } from '@tidemark/libs-op-store-contract';
import type { Handle } from './open-file.ts';

export interface Changes {
  position(): string;
  after(position: string, limit: number): ChangePage;
}

/** Rows that one page looks at; a burst into one stream then takes few pages. */
const ROWS_MAX = 4096;

/**
 * A position is the highest rowid seen. SQLite has one writer at a time and gives a new row the highest rowid plus one, so rowids rise in
 * the order of commits and nothing appears below a position later, also after an erasure (rowids.ts).
 *
 * Two things done past this adapter may take rowids back: VACUUM may number rows anew, and another program may delete the newest rows. A
 * follower then misses what was appended up to its old position. That is harmless, because positions do not outlive the process that
 * asked for them, and the feed repeats a full pass over the streams from time to time, which finds every head that it was not told of.
 */
export function prepareChanges(handle: Handle, head: (stream: string) => bigint): Changes {
  const last = handle.prepare<[], bigint | null>('SELECT max(rowid) FROM stream_ops').pluck().safeIntegers();
  const newer = handle.prepare<[bigint, number], [bigint, string]>(
    'SELECT rowid, stream_id FROM stream_ops WHERE rowid > ? ORDER BY rowid LIMIT ?',
  );
  newer.raw().safeIntegers();
  return {
    position: () => String(last.get() ?? 0n),
    after(position, limit) {
      const streams = new Set<string>();
      let at = BigInt(position);
      for (const [rowid, stream] of newer.iterate(at, ROWS_MAX)) {
        if (!streams.has(stream) && streams.size >= limit) break;
        streams.add(stream);
        at = rowid;
      }
      return { changed: [...streams].map((stream) => ({ stream, head: head(stream) })), position: String(at) };
    },
  };
}
