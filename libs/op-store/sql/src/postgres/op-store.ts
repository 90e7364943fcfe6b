import type { PostgresConnection } from '@tidemark/libs-driver-postgres';
import { type Clock, PULL_PAGE_BYTES_MAX } from '@tidemark/libs-kernel';
import type { IndexedOpStore } from '@tidemark/libs-op-store-contract';
import { append } from './append.ts';
import type { Announcer } from './announcer.ts';
import { burnedThrough, seqOf } from './burned.ts';
import { changes, position } from './changes.ts';
import { erase } from './erase.ts';
import { read, readAhead } from './read.ts';
import { assertStorable, isStorable, refusalOf } from './refusal.ts';
import { describe, head, list } from './streams.ts';
import { ListeningWatch, type WatchOptions } from './watch.ts';

/** An append is stored whole or not at all. A stream whose id cannot be stored is refused by writes, and empty for reads. */
export function postgresOpStore(
  connection: PostgresConnection,
  clock: Clock,
  announcer: Announcer,
  watching: WatchOptions,
): IndexedOpStore {
  const nowSecs = (): bigint => BigInt(Math.floor(clock.now() / 1000));
  return {
    refusal: refusalOf,
    async append(stream, ops) {
      assertStorable(stream);
      connection.assertOpen();
      if (ops.length === 0) return [];
      const outcomes = await append(connection, stream, ops);
      if (outcomes.some(({ kind }) => kind === 'stored')) announcer.announce(stream);
      return outcomes;
    },
    read: async (stream, after, limit, bytesMax = PULL_PAGE_BYTES_MAX) =>
      isStorable(stream) ? read(connection, stream, after, limit, bytesMax) : { ops: [], next: after },
    readAhead: async (stream, after, limit, bytesMax = PULL_PAGE_BYTES_MAX) =>
      isStorable(stream) ? readAhead(connection, stream, after, limit, bytesMax) : [],
    burnedThrough: async (stream, after) => (isStorable(stream) ? burnedThrough(connection, stream, after) : after),
    async floor() {
      connection.assertOpen();
      return 0n;
    },
    seqOf: async (stream, opId) => (isStorable(stream) && isStorable(opId) ? seqOf(connection, stream, opId) : null),
    head: async (stream) => (isStorable(stream) ? head(connection, stream) : 0n),
    describe: async (stream) => (isStorable(stream) ? describe(connection, stream) : { head: 0n, burned: 0n }),
    erase: async (stream) => (isStorable(stream) ? erase(connection, stream, nowSecs()) : 0n),
    streams: (after, limit) => list(connection, after, limit),
    position: () => position(connection),
    changes: (from, limit) => changes(connection, from, limit),
    watch: (onAppend) => ListeningWatch.open(watching, onAppend),
    ping: async () => void (await connection.read({ text: 'SELECT 1 FROM stream_ops LIMIT 1', values: [] })),
    close: () => connection.close(),
  };
}
