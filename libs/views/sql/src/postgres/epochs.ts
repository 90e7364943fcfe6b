import type { PostgresConnection } from '@tidemark/libs-driver-postgres';
import { FIRST_EPOCH, NOTHING_FOLDED, type Revisions, type StoredMark, markCells } from '@tidemark/libs-views-contract';
import { type EpochRow, leftEpochs } from '../left-epochs.ts';
import { epochLock } from './epoch-lock.ts';
import { assertStorableStream, isStorable } from './storable.ts';

const START = `
  INSERT INTO view_marks (folded_through, floor, ahead, holes, skipped, revisions, stream, epoch, role, version)
  SELECT $1, $2, $3, $4, $5, $6, $7::text, coalesce(max(epoch), ${FIRST_EPOCH}) + 1, 'build', 1
  FROM view_marks WHERE stream = $7
  ON CONFLICT DO NOTHING RETURNING epoch`;

/** A save of the shown mark that was faster is waited for, and then compared. */
const LEAVE = `
  UPDATE view_marks AS shown SET role = 'left' FROM view_marks AS build
  WHERE shown.stream = $1 AND shown.role = 'shown' AND build.stream = $1 AND build.epoch = $2 AND build.role = 'build'
    AND build.folded_through >= shown.folded_through`;

const SHOW = `
  UPDATE view_marks SET role = 'shown' WHERE stream = $1 AND epoch = $2 AND role = 'build'
    AND NOT EXISTS (SELECT 1 FROM view_marks WHERE stream = $1 AND role = 'shown')`;

const IS_SHOWN = `SELECT epoch FROM view_marks WHERE stream = $1 AND epoch = $2 AND role = 'shown'`;

const ABANDON = `UPDATE view_marks SET role = 'left' WHERE stream = $1 AND epoch = $2 AND role = 'build'`;

const DROP = `
  WITH cells AS (
    DELETE FROM view_cells WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM view_cells WHERE stream = $1 AND epoch = $2 LIMIT $3)) RETURNING 1
  )
  SELECT count(*) FROM cells`;

const DROP_PARKED = `
  WITH ops AS (
    DELETE FROM view_parked WHERE stream = $1 AND epoch = $2 AND seq = ANY (ARRAY(
      SELECT seq FROM view_parked WHERE stream = $1 AND epoch = $2 LIMIT $3)) RETURNING 1
  )
  SELECT count(*) FROM ops`;

export async function startBuild(
  connection: PostgresConnection,
  stream: string,
  revisions: Revisions,
): Promise<StoredMark | 'conflict'> {
  assertStorableStream(stream);
  const values = [...markCells(NOTHING_FOLDED, revisions), stream];
  const [, started] = await connection.write<[bigint]>([epochLock(stream), { text: START, values }]);
  const epoch = started?.[0]?.[0];
  return epoch === undefined ? 'conflict' : { watermark: NOTHING_FOLDED, epoch: Number(epoch), version: 1, revisions };
}

export async function switchTo(
  connection: PostgresConnection,
  stream: string,
  epoch: number,
): Promise<'switched' | 'conflict'> {
  if (!isStorable(stream)) return 'conflict';
  const steps = [LEAVE, SHOW, IS_SHOWN].map((text) => ({ text, values: [stream, epoch] }));
  const answers = await connection.write([epochLock(stream), ...steps]);
  return answers.at(-1)!.length === 1 ? 'switched' : 'conflict';
}

export async function abandonBuild(connection: PostgresConnection, stream: string, epoch: number): Promise<void> {
  if (isStorable(stream)) await connection.write([epochLock(stream), { text: ABANDON, values: [stream, epoch] }]);
}

/** Each epoch by itself: one that is left stays so, whatever happens between. */
export async function dropEpochs(connection: PostgresConnection, stream: string, limit: number): Promise<number> {
  if (!isStorable(stream)) return 0;
  const text = 'SELECT epoch::integer, role FROM view_marks WHERE stream = $1';
  const roles = await connection.read<[number, EpochRow['role']]>({ text, values: [stream] });
  let dropped = 0;
  for (const epoch of leftEpochs(roles.map(([epoch, role]) => ({ epoch, role })))) {
    for (const text of [DROP, DROP_PARKED]) {
      const [rows] = await connection.write<[bigint]>([{ text, values: [stream, epoch, limit - dropped] }]);
      dropped += Number(rows![0]![0]);
    }
    if (dropped >= limit) break;
  }
  return dropped;
}
