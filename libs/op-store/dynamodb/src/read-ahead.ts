import type { SeenOp } from '@tidemark/libs-op-store-contract';
import { opTextBytes } from '@tidemark/libs-wire';
import { isCorrupt } from './corrupt.ts';
import { type Item, toSeq, toSequencedOp } from './op-item.ts';
import type { OpsTable } from './ops-table.ts';

/** What Queries show, through all of the table's own pages. Of a transaction that is being committed they may show a part. */
export async function readAhead(
  table: OpsTable,
  stream: string,
  after: bigint,
  limit: number,
  bytesMax: number,
): Promise<readonly SeenOp[]> {
  const ops: SeenOp[] = [];
  let bytes = 0;
  for (let from = after > 0n ? after : 0n; ops.length < limit;) {
    const { items, isLast } = await table.opsAbove(stream, from, limit - ops.length);
    for (const one of items.map(seen)) {
      bytes += one.op === null ? 0 : opTextBytes(one.op);
      if (bytes > bytesMax && ops.length > 0) return ops;
      ops.push(one);
      from = one.seq;
    }
    if (isLast || items.length === 0) break;
  }
  return ops;
}

function seen(item: Item): SeenOp {
  try {
    return toSequencedOp(item);
  } catch (thrown) {
    if (isCorrupt(thrown)) return { seq: toSeq(item), op: null, problem: thrown.message };
    throw thrown;
  }
}
