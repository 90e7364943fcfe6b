import type { StreamHead } from '@tidemark/libs-op-store-contract';
import type { Handle } from './open-file.ts';

/** The greatest of both: an older program that knows no erasures counts from 1 again. */
const HEAD = `
  SELECT max(coalesce((SELECT max(seq) FROM stream_ops WHERE stream_id = ?), 0),
             coalesce((SELECT head FROM stream_erasures WHERE stream_id = ?), 0))`;

/** Highest seq ever given: an erased stream keeps its head. */
export function prepareHead(handle: Handle): (stream: string) => bigint {
  const head = handle.prepare<[string, string], bigint>(HEAD).pluck().safeIntegers();
  return (stream) => head.get(stream, stream) as bigint;
}

/** Rows counted at a time. */
const COUNTED_MAX = 10_000;

export interface Streams {
  head(stream: string): bigint;
  /** Ops with a seq above `after`, up to `upTo`, as many as COUNTED_MAX; `last` is the highest of their seqs when there may be more. */
  count(stream: string, after: bigint, upTo: bigint): { readonly ops: number; readonly last: bigint | null };
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
  const some = 'SELECT seq FROM stream_ops WHERE stream_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?';
  const count = handle.prepare<[string, bigint, bigint, number], [bigint, bigint | null]>(
    `SELECT count(*), max(seq) FROM (${some})`,
  );
  count.raw().safeIntegers();
  first.pluck();
  following.pluck();
  return {
    head: headOf,
    count(stream, after, upTo) {
      const [ops, last] = count.get(stream, after, upTo, COUNTED_MAX) as [bigint, bigint | null];
      return { ops: Number(ops), last: ops < COUNTED_MAX ? null : last };
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
