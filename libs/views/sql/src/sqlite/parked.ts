import { type ParkedOp, type ParkedRow, assertStream, parkedText, toParked } from '@tidemark/libs-views-contract';
import type { Handle } from './open-file.ts';

export interface Parked {
  put(stream: string, epoch: number, op: ParkedOp): void;
  list(stream: string, epoch: number, after: bigint, limit: number): readonly ParkedOp[];
  remove(stream: string, epoch: number, seq: bigint): void;
}

export function prepareParked(handle: Handle): Parked {
  const put = handle.prepare('INSERT OR REPLACE INTO parked (stream, epoch, seq, op) VALUES (?, ?, ?, ?)');
  const remove = handle.prepare('DELETE FROM parked WHERE stream = ? AND epoch = ? AND seq = ?');
  const above = handle
    .prepare<unknown[], ParkedRow>(
      'SELECT seq, op FROM parked WHERE stream = ? AND epoch = ? AND seq > ? ORDER BY seq LIMIT ?',
    )
    .safeIntegers();
  return {
    put(stream, epoch, op) {
      assertStream(stream);
      put.run(stream, epoch, op.seq, parkedText(op));
    },
    list: (stream, epoch, after, limit) =>
      stream.isWellFormed() ? Array.from(above.all(stream, epoch, after, limit), toParked) : [],
    remove: (stream, epoch, seq) => void (stream.isWellFormed() && remove.run(stream, epoch, seq)),
  };
}
