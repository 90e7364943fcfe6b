import type { ReadPage, SeenOp, SequencedOp } from '@tidemark/libs-op-store-contract';
import { opTextBytes } from '@tidemark/libs-wire';
import { seen } from '../seen.ts';
import type { Handle } from './open-file.ts';
import { OP_COLUMNS, type OpRow, textUnits, toSequencedOp } from './op-row.ts';

export interface Read {
  page(stream: string, after: bigint, limit: number, bytesMax: number): ReadPage;
  /** Whatever can be read or not; every seq that is missing in it is burned, as in a page. */
  ahead(stream: string, after: bigint, limit: number, bytesMax: number): SeenOp[];
}

const ABOVE = `
  SELECT seq, ${OP_COLUMNS} FROM stream_ops WHERE stream_id = ? AND seq > ? ORDER BY seq LIMIT ?`;

/** One statement, so one state of the log. Rows are fetched one by one: memory holds a page and one op more, however large ops are. */
export function prepareRead(handle: Handle): Read {
  const above = handle.prepare<[string, bigint, number], OpRow>(ABOVE).raw().safeIntegers();
  const fill = <T extends SeenOp>(
    toOp: (row: OpRow) => T,
    [stream, after, limit, bytesMax]: Parameters<Read['page']>,
  ): T[] => {
    const ops: T[] = [];
    const fits = byteBound(bytesMax);
    for (const row of above.iterate(stream, after > 0n ? after : 0n, Math.max(limit, 0))) {
      const next = toOp(row);
      if (next.op !== null && !fits(next as SequencedOp, ops) && ops.length > 0) break;
      ops.push(next);
    }
    return ops;
  };
  return {
    page(...asked) {
      const [stream, after] = asked;
      const ops = fill((row) => toSequencedOp(stream, row), asked);
      return { ops, next: ops.at(-1)?.seq ?? after };
    },
    ahead: (...asked) => fill((row) => seen(row[0], () => toSequencedOp(asked[0], row)), asked),
  };
}

/** More than opTextBytes counts for anything but text. */
const FRAME_BYTES_MAX = 512;

/**
 * Whether a page may hold one more op. Counting bytes takes as long as reading the row, so it is not done before a cheap bound from above
 * (three bytes for each UTF-16 unit) passes bytesMax, which few pages ever do.
 */
function byteBound(bytesMax: number): (next: SequencedOp, ops: readonly SeenOp[]) => boolean {
  let bytes = 0;
  let counting = false;
  return (next, ops) => {
    bytes += counting ? opTextBytes(next.op) : FRAME_BYTES_MAX + 3 * textUnits(next.op);
    if (!counting && bytes > bytesMax) {
      counting = true;
      bytes = ops.reduce((sum, { op }) => sum + (op ? opTextBytes(op) : 0), opTextBytes(next.op));
    }
    return bytes <= bytesMax;
  };
}
