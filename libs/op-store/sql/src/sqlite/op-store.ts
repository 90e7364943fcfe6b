import { type Clock, Fault, PULL_PAGE_BYTES_MAX, asFault } from '@tidemark/libs-kernel';
import type { AppendOutcome, IndexedOpStore, StreamState } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';
import { preparePlaces } from './burned.ts';
import { prepareChanges } from './changes.ts';
import type { Appended, Cell, Erased } from './command.ts';
import type { SqliteConnection } from './connection.ts';
import { pushCells, textUnits } from './op-row.ts';
import { prepareRead } from './read.ts';
import { type Streams, prepareStreams } from './streams.ts';

/** An append is stored whole or not at all. */
export function sqliteOpStore(connection: SqliteConnection, clock: Clock): IndexedOpStore {
  const { handle } = connection;
  const read = prepareRead(handle);
  const streams = prepareStreams(handle);
  const places = preparePlaces(handle, streams.head);
  const changes = prepareChanges(handle, streams.head);
  const look = handle.prepare('SELECT 1 FROM stream_ops LIMIT 1');
  const nowSecs = (): bigint => BigInt(Math.floor(clock.now() / 1000));
  return {
    refusal: () => null,
    append: async (stream, ops) => toOutcomes(await append(connection, stream, ops)),
    read: (stream, after, limit, bytesMax = PULL_PAGE_BYTES_MAX) =>
      connection.read(() => read.page(stream, after, limit, bytesMax)),
    readAhead: (stream, after, limit, bytesMax = PULL_PAGE_BYTES_MAX) =>
      connection.read(() => read.ahead(stream, after, limit, bytesMax)),
    burnedThrough: (stream, after) => connection.read(() => places.burnedThrough(stream, after)),
    floor: () => connection.read(() => 0n),
    seqOf: (stream, opId) => connection.read(() => places.seqOf(stream, opId)),
    head: (stream) => connection.read(() => streams.head(stream)),
    describe: (stream) => describe(connection, streams, stream),
    erase: (stream) => erase(connection, stream, nowSecs()),
    streams: (after, limit) => connection.read(() => streams.list(after, limit)),
    position: () => connection.read(() => changes.position()),
    changes: (position, limit) => connection.read(() => changes.after(position, limit)),
    watch: async () => null,
    ping: () => connection.read(() => void look.get()),
    close: () => connection.close(),
  };
}

function append(connection: SqliteConnection, stream: string, ops: readonly Op[]): Promise<Appended> {
  const cells: Cell[] = [];
  let units = 0;
  for (const op of ops) {
    pushCells(op, cells);
    units += textUnits(op);
  }
  return connection.write({ kind: 'append', stream, cells }, { rows: ops.length, units });
}

function toOutcomes({ seqs, existing }: Appended): AppendOutcome[] {
  const outcomes = Array.from(seqs, (seq): AppendOutcome => ({ kind: 'stored', seq }));
  for (const at of existing) outcomes[at] = { kind: 'existing', seq: seqs[at] as bigint };
  return outcomes;
}

/**
 * Part by part, so that whatever else this thread has to do comes between. Ops that are erased meanwhile may be counted; later appends
 * are not.
 */
async function describe(connection: SqliteConnection, streams: Streams, stream: string): Promise<StreamState> {
  const first = await connection.read(() => {
    const head = streams.head(stream);
    return { head, ...streams.count(stream, 0n, head) };
  });
  const { head } = first;
  let [counted, last] = [first.ops, first.last];
  while (last !== null) {
    await connection.turn();
    const after: bigint = last;
    const part = await connection.read(() => streams.count(stream, after, head));
    [counted, last] = [counted + part.ops, part.last];
  }
  return { head, burned: head - BigInt(counted) };
}

/** Part by part, so that other writes come between; one that fails after the first says that some ops are gone. */
async function erase(connection: SqliteConnection, stream: string, nowSecs: bigint): Promise<bigint> {
  let ops = 0;
  let part: Erased | undefined;
  do {
    try {
      part = await connection.write({ kind: 'erase', stream, upTo: part?.upTo ?? null, nowSecs });
    } catch (thrown) {
      const { code, message, outcome } = asFault(thrown);
      if (ops === 0 || outcome !== 'not-done') throw thrown;
      throw new Fault(code, `${message}; ${ops} ops of the stream are erased, the others are not`, {
        outcome: 'partly',
        cause: thrown,
      });
    }
    ops += part.ops;
  } while (part.more);
  return BigInt(ops);
}
