import { type ParkedOp, parkedText, toParked } from '@tidemark/libs-views-contract';
import { type Item, assertStorableStream, isStream, parkedKey, parkedKeys, parkedSeq } from './keys.ts';
import type { ViewsTable } from './views-table.ts';

export async function park(table: ViewsTable, stream: string, epoch: number, op: ParkedOp): Promise<void> {
  assertStorableStream(stream);
  await table.write(stream, parkedKey(epoch, op.seq), {
    set: 'SET #op = :op',
    names: { '#op': 'op' },
    values: { ':op': { S: parkedText(op) } },
  });
}

export async function listParked(
  table: ViewsTable,
  stream: string,
  epoch: number,
  after: bigint,
  limit: number,
): Promise<readonly ParkedOp[]> {
  if (!isStream(stream)) return [];
  const range = { ...parkedKeys(epoch, epoch), from: parkedKey(epoch, after < 0n ? 0n : after + 1n) };
  const ops: ParkedOp[] = [];
  let from: Item | undefined;
  do {
    const page = await table.query(stream, range, limit - ops.length, from);
    for (const { sk, op } of page.items) ops.push(toParked({ seq: String(parkedSeq(sk!.S!)), op: op?.S ?? '' }));
    from = page.next;
  } while (from !== undefined && ops.length < limit);
  return ops;
}

export async function unpark(table: ViewsTable, stream: string, epoch: number, seq: bigint): Promise<void> {
  if (isStream(stream)) await table.delete(stream, parkedKey(epoch, seq));
}
