import type { ReadPage, SequencedOp } from '@tidemark/libs-op-store-contract';
import { opTextBytes } from '@tidemark/libs-wire';
import type { Handle } from './open-file.ts';
import { OP_COLUMNS, type OpRow, textUnits, toSequencedOp } from './op-row.ts';

export type Read = (stream: string, after: bigint, limit: number, bytesMax: number) => ReadPage;

const ABOVE = `
  SELECT seq, ${OP_COLUMNS} FROM stream_ops WHERE stream_id = ? AND seq > ? ORDER BY seq LIMIT ?`;

/** One statement, so one state of the log. Rows are fetched one by one: memory holds a page and one op more, however large ops are. */
export function prepareRead(handle: Handle): Read {
  const above = handle.prepare<[string, bigint, number], OpRow>(ABOVE).raw().safeIntegers();
  return (stream, after, limit, bytesMax) => {
    const ops: SequencedOp[] = [];
    const fits = byteBound(bytesMax);
    for (const row of above.iterate(stream, after > 0n ? after : 0n, Math.max(limit, 0))) {
      const next = toSequencedOp(stream, row);
      if (!fits(next, ops) && ops.length > 0) break;
      ops.push(next);
    }
    return { ops, next: ops.at(-1)?.seq ?? after };
  };
}

/** More than opTextBytes counts for anything but text. */
const FRAME_BYTES_MAX = 512;

/**
 * Whether a page may hold one more op. Counting bytes takes as long as reading the row, so it is not done before a cheap bound from above
 * (three bytes for each UTF-16 unit) passes bytesMax, which few pages ever do.
 */
function byteBound(bytesMax: number): (next: SequencedOp, ops: readonly SequencedOp[]) => boolean {
  let bytes = 0;
  let counting = false;
  return (next, ops) => {
    bytes += counting ? opTextBytes(next.op) : FRAME_BYTES_MAX + 3 * textUnits(next.op);
    if (!counting && bytes > bytesMax) {
      counting = true;
      bytes = ops.reduce((sum, { op }) => sum + opTextBytes(op), opTextBytes(next.op));
    }
    return bytes <= bytesMax;
  };
}
