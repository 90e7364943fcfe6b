import type { ReadPage, SequencedOp } from '@tidemark/libs-op-store-contract';
import { opTextBytes } from '@tidemark/libs-wire';
import type { Handle } from './open-file.ts';
import { OP_COLUMNS, type OpRow, toSequencedOp } from './op-row.ts';

export type Read = (stream: string, after: bigint, limit: number, bytesMax: number) => ReadPage;

const ABOVE = `
  SELECT seq, ${OP_COLUMNS} FROM stream_ops WHERE stream_id = ? AND seq > ? ORDER BY seq LIMIT ?`;

/** One statement, so one state of the log. Rows are fetched one by one: memory holds a page and one op more, however large ops are. */
export function prepareRead(handle: Handle): Read {
  const above = handle.prepare<[string, bigint, number], OpRow>(ABOVE).raw().safeIntegers();
  return (stream, after, limit, bytesMax) => {
    const ops: SequencedOp[] = [];
    let bytes = 0;
    for (const row of above.iterate(stream, after > 0n ? after : 0n, Math.max(limit, 0))) {
      const sequenced = toSequencedOp(stream, row);
      bytes += opTextBytes(sequenced.op);
      if (bytes > bytesMax && ops.length > 0) break;
      ops.push(sequenced);
    }
    return { ops, next: ops.at(-1)?.seq ?? after };
  };
}
