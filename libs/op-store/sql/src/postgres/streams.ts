import type { PostgresConnection } from '@tidemark/libs-driver-postgres';
import type { StreamHead, StreamState } from '@tidemark/libs-op-store-contract';

/**
 * Highest seq ever given to the stream that `id` names: an erased stream keeps its head. Not max(seq): where the planner takes a stream
 * for one of a few ops, it may read all of them for that.
 */
export function HEAD(id: string): string {
  return `greatest(
    (SELECT seq FROM stream_ops WHERE stream_id = ${id} ORDER BY seq DESC LIMIT 1),
    (SELECT head FROM stream_erasures WHERE stream_id = ${id}), 0)`;
}

/** stream_changes has a row for each stream, in the order of UTF-8 bytes; the ops themselves say whether there is one, and the head. */
export const LIST = `
  SELECT listed.stream_id, newest.seq FROM stream_changes listed
  CROSS JOIN LATERAL (
    SELECT seq FROM stream_ops WHERE stream_id = listed.stream_id COLLATE "default" ORDER BY seq DESC LIMIT 1
  ) newest
  WHERE $1::text IS NULL OR listed.stream_id > $1 COLLATE "C"
  ORDER BY listed.stream_id LIMIT $2`;

export async function head(connection: PostgresConnection, stream: string): Promise<bigint> {
  const [row] = await connection.read<[bigint]>({ text: `SELECT ${HEAD('$1')}`, values: [stream] });
  return row?.[0] as bigint;
}

/** A long stream takes its time to be counted. */
const DESCRIBE_MS_MAX = 300_000;

export async function describe(connection: PostgresConnection, stream: string): Promise<StreamState> {
  const text = `SELECT ${HEAD('$1')}, (SELECT count(*) FROM stream_ops WHERE stream_id = $1)`;
  const [row] = await connection.read<[head: bigint, ops: bigint]>({ text, values: [stream] }, DESCRIBE_MS_MAX);
  const [top, ops] = row as [bigint, bigint];
  return { head: top, burned: top - ops };
}

export async function list(connection: PostgresConnection, after: string | null, limit: number): Promise<StreamHead[]> {
  // No stream's id holds U+0000, so none lies between an id and the same id cut there.
  const from = after?.split('\0', 1)[0] ?? null;
  const rows = await connection.read<[string, bigint]>({ text: LIST, values: [from, Math.max(limit, 0)] });
  return rows.map(([stream, top]) => ({ stream, head: top }));
}
