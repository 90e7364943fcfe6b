import type { Op } from '@tidemark/libs-wire';
import { OP_COLUMN_NAMES, OP_COLUMNS } from './op-row.ts';
import type { Scratch } from './scratch.ts';

/** Puts an op at a seq past the adapter, as an older writer would have left it. */
export async function plant(scratch: Scratch, stream: string, seq: bigint, op: Op): Promise<void> {
  await (await scratch.open()).close();
  const places = OP_COLUMNS.map((_, i) => `$${i + 3}`).join(', ');
  const sql = `INSERT INTO stream_ops (stream_id, seq, ${OP_COLUMN_NAMES}) VALUES ($1, $2, ${places})`;
  await (await scratch.client()).query(sql, [stream, seq, ...OP_COLUMNS.map(({ field }) => op[field])]);
}
