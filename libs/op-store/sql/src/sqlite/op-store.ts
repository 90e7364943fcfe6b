import { type Clock, PULL_PAGE_BYTES_MAX } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { prepareAppend } from './append.ts';
import { prepareChanges } from './changes.ts';
import { prepareErasing } from './erase.ts';
import type { SqliteConnection } from './connection.ts';
import { prepareRead } from './read.ts';
import { prepareStreams } from './streams.ts';

/** An append is stored whole or not at all. */
export function sqliteOpStore(connection: SqliteConnection, clock: Clock): OpStore {
  const { handle } = connection;
  const append = prepareAppend(handle);
  const read = prepareRead(handle);
  const streams = prepareStreams(handle);
  const changes = prepareChanges(handle, streams.head);
  const look = handle.prepare('SELECT 1 FROM stream_ops LIMIT 1');
  const erasing = prepareErasing(handle, streams.head);
  const nowSecs = (): bigint => BigInt(Math.floor(clock.now() / 1000));
  return {
    refusal: () => null,
    append: (stream, ops) => connection.write(() => append(stream, ops)),
    read: (stream, after, limit, bytesMax = PULL_PAGE_BYTES_MAX) =>
      connection.read(() => read(stream, after, limit, bytesMax)),
    head: (stream) => connection.read(() => streams.head(stream)),
    describe: (stream) => connection.read(() => erasing.describe(stream)),
    erase: (stream) => connection.write(() => erasing.erase(stream, nowSecs())),
    streams: (after, limit) => connection.read(() => streams.list(after, limit)),
    position: () => connection.read(() => changes.position()),
    changes: (position, limit) => connection.read(() => changes.after(position, limit)),
    watch: async () => null,
    ping: () => connection.read(() => void look.get()),
    close: () => connection.close(),
  };
}
