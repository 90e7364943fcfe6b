import type { PostgresConnection } from '@tidemark/libs-driver-postgres';
import {
  FIRST_EPOCH,
  type MarkRow,
  type Revisions,
  type StoredMark,
  type StreamMark,
  type WatermarkState,
  markCells,
  toMark,
  toStreamMark,
} from '@tidemark/libs-views-contract';
import { epochLock } from './epoch-lock.ts';
import { assertStorableStream, isStorable } from './storable.ts';

const COLUMNS = 'stream, epoch, version, folded_through, floor, ahead, holes, skipped, revisions';

const INSERT = `
  INSERT INTO view_marks (folded_through, floor, ahead, holes, skipped, revisions, stream, epoch, role, version)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'shown', 1)
  ON CONFLICT DO NOTHING RETURNING epoch`;

const REPLACE = `
  UPDATE view_marks
  SET folded_through = $1, floor = $2, ahead = $3, holes = $4, skipped = $5, revisions = $6, version = version + 1
  WHERE stream = $7 AND epoch = $8 AND version = $9 AND role <> 'left' RETURNING epoch`;

export async function readMark(
  connection: PostgresConnection,
  stream: string,
  role: 'shown' | 'build',
): Promise<StoredMark | null> {
  if (!isStorable(stream)) return null;
  const text = `SELECT ${COLUMNS} FROM view_marks WHERE stream = $1 AND role = '${role}'`;
  const [row] = await connection.read<MarkTuple>({ text, values: [stream] });
  return row ? toMark(toRow(row)) : null;
}

/** One statement, so the comparison and the write cannot be parted. Only a first save takes a lock: an epoch begins with it. */
export async function saveMark(
  connection: PostgresConnection,
  stream: string,
  epoch: number,
  watermark: WatermarkState,
  expectedVersion: number,
  revisions: Revisions,
): Promise<'saved' | 'conflict'> {
  assertStorableStream(stream);
  if (expectedVersion === 0 && epoch !== FIRST_EPOCH) return 'conflict';
  const values = [...markCells(watermark, revisions), stream, epoch];
  const isFirst = expectedVersion === 0;
  const statements = isFirst
    ? [epochLock(stream), { text: INSERT, values }]
    : [{ text: REPLACE, values: [...values, expectedVersion] }];
  const answers = await connection.write(statements);
  return answers.at(-1)!.length === 1 ? 'saved' : 'conflict';
}

export async function listMarks(
  connection: PostgresConnection,
  after: string | null,
  limit: number,
): Promise<readonly StreamMark[]> {
  const above = after === null ? '' : 'AND stream > $2';
  const text = `SELECT ${COLUMNS} FROM view_marks WHERE role = 'shown' ${above} ORDER BY stream LIMIT $1`;
  const values = after === null ? [limit] : [limit, lowest(after)];
  return (await connection.read<MarkTuple>({ text, values })).map((row) => toStreamMark(toRow(row)));
}

/** No stored name lies between a text that is cut at its first NUL and the text itself. */
export function lowest(after: string): string {
  return after.split('\0', 1)[0]!;
}

type MarkTuple = [string, bigint, bigint, bigint, bigint, string, string, string, string];

function toRow([stream, epoch, version, folded_through, floor, ahead, holes, skipped, revisions]: MarkTuple): MarkRow {
  return { stream, epoch, version, folded_through, floor, ahead, holes, skipped, revisions };
}
