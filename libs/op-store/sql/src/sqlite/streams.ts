import type { StreamHead, StreamState } from '@tidemark/libs-op-store-contract';
import type { Handle } from './open-file.ts';

const HEAD = `
  SELECT max(coalesce((SELECT max(seq) FROM stream_ops WHERE stream_id = ?), 0),
             coalesce((SELECT head FROM stream_erasures WHERE stream_id = ?), 0))`;

/** Highest seq ever given: an erased stream keeps its head. */
export function prepareHead(handle: Handle): (stream: string) => bigint {
  const head = handle.prepare<[string, string], bigint>(HEAD).pluck().safeIntegers();
  return (stream) => head.get(stream, stream) as bigint;
}

export interface Streams {
  head(stream: string): bigint;
  /** Counts the stream's ops. */
  describe(stream: string): StreamState;
  list(after: string | null, limit: number): StreamHead[];
}

/**
 * Streams are found by stepping through the primary key from one id to the next: a page costs two seeks per stream, however many ops
 * they hold. Text compares by its bytes (collation BINARY).
 */
export function prepareStreams(handle: Handle): Streams {
  const headOf = prepareHead(handle);
  const first = handle.prepare<[], string | null>('SELECT min(stream_id) FROM stream_ops');
  const following = handle.prepare<[string], string | null>(
    'SELECT min(stream_id) FROM stream_ops WHERE stream_id > ?',
  );
  const count = handle.prepare<[string], bigint>('SELECT count(*) FROM stream_ops WHERE stream_id = ?');
  count.pluck().safeIntegers();
  first.pluck();
  following.pluck();
  return {
    head: headOf,
    describe(stream) {
      const head = headOf(stream);
      return { head, burned: head - (count.get(stream) as bigint) };
    },
    list(after, limit) {
      const heads: StreamHead[] = [];
      let stream = after === null ? first.get() : following.get(after);
      while (typeof stream === 'string' && heads.length < limit) {
        heads.push({ stream, head: headOf(stream) });
        stream = following.get(stream);
      }
      return heads;
    },
  };
}
