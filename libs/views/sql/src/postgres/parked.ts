import type { PostgresConnection } from '@tidemark/libs-driver-postgres';
import { type ParkedOp, parkedText, toParked } from '@tidemark/libs-views-contract';
import { assertStorableStream, isStorable } from './storable.ts';

export async function park(connection: PostgresConnection, stream: string, epoch: number, op: ParkedOp): Promise<void> {
  assertStorableStream(stream);
  const text = `
    INSERT INTO view_parked (stream, epoch, seq, op) VALUES ($1, $2, $3, $4)
    ON CONFLICT (stream, epoch, seq) DO UPDATE SET op = excluded.op`;
  await connection.write([{ text, values: [stream, epoch, op.seq, parkedText(op)] }]);
}

export async function listParked(
  connection: PostgresConnection,
  stream: string,
  epoch: number,
  after: bigint,
  limit: number,
): Promise<readonly ParkedOp[]> {
  if (!isStorable(stream)) return [];
  const text = 'SELECT seq, op FROM view_parked WHERE stream = $1 AND epoch = $2 AND seq > $3 ORDER BY seq LIMIT $4';
  const rows = await connection.read<[bigint, string]>({ text, values: [stream, epoch, after, limit] });
  return rows.map(([seq, op]) => toParked({ seq, op }));
}

export async function unpark(
  connection: PostgresConnection,
  stream: string,
  epoch: number,
  seq: bigint,
): Promise<void> {
  const text = 'DELETE FROM view_parked WHERE stream = $1 AND epoch = $2 AND seq = $3';
  if (isStorable(stream)) await connection.write([{ text, values: [stream, epoch, seq] }]);
}
