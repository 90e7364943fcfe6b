import type { PostgresConnection } from '@tidemark/libs-driver-postgres';
import { HEAD } from './streams.ts';

const BURNED = `
  SELECT coalesce((SELECT min(seq) - 1 FROM stream_ops WHERE stream_id = $1 AND seq > $2), ${HEAD('$1')})`;

/**
 * One snapshot of head and ops. Appends of a stream take their seqs one after the other, under its lock: what a snapshot does not hold
 * below its head is never written.
 */
export async function burnedThrough(connection: PostgresConnection, stream: string, after: bigint): Promise<bigint> {
  const from = after > 0n ? after : 0n;
  const [row] = await connection.read<[bigint]>({ text: BURNED, values: [stream, from] });
  const through = row?.[0] as bigint;
  return through > from ? through : after;
}

export async function seqOf(connection: PostgresConnection, stream: string, opId: string): Promise<bigint | null> {
  const text = 'SELECT seq FROM stream_ops WHERE stream_id = $1 AND op_id = $2';
  const [row] = await connection.read<[bigint]>({ text, values: [stream, opId] });
  return row?.[0] ?? null;
}
