import {
  FIRST_EPOCH,
  type MarkRow,
  type Revisions,
  type StoredMark,
  type StreamMark,
  type WatermarkState,
  assertStream,
  markCells,
  toMark,
  toStreamMark,
} from '@tidemark/libs-views-contract';
import type { Handle } from './open-file.ts';

export interface Marks {
  read(stream: string, role: 'shown' | 'build'): StoredMark | null;
  save(
    stream: string,
    epoch: number,
    watermark: WatermarkState,
    expectedVersion: number,
    revisions: Revisions,
  ): 'saved' | 'conflict';
  list(after: string | null, limit: number): readonly StreamMark[];
}

export const MARK_COLUMNS = 'stream, epoch, version, folded_through, floor, ahead, holes, skipped, revisions';

const INSERT = `
  INSERT INTO marks (folded_through, floor, ahead, holes, skipped, revisions, stream, epoch, role, version)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'shown', 1)
  ON CONFLICT DO NOTHING`;

const REPLACE = `
  UPDATE marks SET folded_through = ?, floor = ?, ahead = ?, holes = ?, skipped = ?, revisions = ?, version = version + 1
  WHERE stream = ? AND epoch = ? AND version = ? AND role <> 'left'`;

/** Each save is one statement, so the comparison and the write cannot be parted. */
export function prepareMarks(handle: Handle): Marks {
  const select = (where: string) =>
    handle.prepare<unknown[], MarkRow>(`SELECT ${MARK_COLUMNS} FROM marks WHERE ${where}`).safeIntegers();
  const read = {
    shown: select(`stream = ? AND role = 'shown'`),
    build: select(`stream = ? AND role = 'build'`),
  };
  const first = select(`role = 'shown' ORDER BY stream LIMIT ?`);
  const above = select(`role = 'shown' AND stream > ? ORDER BY stream LIMIT ?`);
  const insert = handle.prepare(INSERT);
  const replace = handle.prepare(REPLACE);
  return {
    read(stream, role) {
      const row = stream.isWellFormed() ? read[role].get(stream) : undefined;
      return row ? toMark(row) : null;
    },
    save(stream, epoch, watermark, expectedVersion, revisions) {
      assertStream(stream);
      const cells = [...markCells(watermark, revisions), stream, epoch];
      if (expectedVersion === 0 && epoch !== FIRST_EPOCH) return 'conflict';
      const { changes } = expectedVersion === 0 ? insert.run(...cells) : replace.run(...cells, expectedVersion);
      return changes === 1 ? 'saved' : 'conflict';
    },
    list(after, limit) {
      return Array.from(after === null ? first.all(limit) : above.all(after, limit), toStreamMark);
    },
  };
}
