import {
  FIRST_EPOCH,
  NOTHING_FOLDED,
  type Revisions,
  type StoredMark,
  assertStream,
  markCells,
} from '@tidemark/libs-views-contract';
import { type EpochRow, leftEpochs } from '../left-epochs.ts';
import type { Handle } from './open-file.ts';

export interface Epochs {
  start(stream: string, revisions: Revisions): StoredMark | 'conflict';
  switchTo(stream: string, epoch: number): 'switched' | 'conflict';
  abandon(stream: string, epoch: number): void;
  drop(stream: string, limit: number): number;
}

const START = `
  INSERT INTO marks (folded_through, floor, ahead, holes, skipped, revisions, stream, epoch, role, version)
  SELECT ?, ?, ?, ?, ?, ?, ?, coalesce(max(epoch), ${FIRST_EPOCH}) + 1, 'build', 1 FROM marks WHERE stream = ?
  ON CONFLICT DO NOTHING RETURNING epoch`;

/** No row: nothing is shown, or a build that is behind it. */
const MAY_SHOW = `
  SELECT 1 FROM marks AS build LEFT JOIN marks AS shown ON shown.stream = build.stream AND shown.role = 'shown'
  WHERE build.stream = ? AND build.epoch = ? AND build.role = 'build'
    AND build.folded_through >= coalesce(shown.folded_through, 0)`;

/** Every call that reads before it writes holds the write lock from its start. */
export function prepareEpochs(handle: Handle): Epochs {
  const start = handle.prepare<unknown[], { epoch: number }>(START);
  const rolesOf = handle.prepare<[string], EpochRow>('SELECT epoch, role FROM marks WHERE stream = ?');
  const mayShow = handle.prepare(MAY_SHOW);
  const leave = handle.prepare(`UPDATE marks SET role = 'left' WHERE stream = ? AND role = 'shown'`);
  const show = handle.prepare(`UPDATE marks SET role = 'shown' WHERE stream = ? AND epoch = ?`);
  const abandon = handle.prepare(`UPDATE marks SET role = 'left' WHERE stream = ? AND epoch = ? AND role = 'build'`);
  const dropCells = handle.prepare(`
    DELETE FROM cells WHERE rowid IN (SELECT rowid FROM cells WHERE stream = ? AND epoch = ? LIMIT ?)`);
  const dropParked = handle.prepare(`
    DELETE FROM parked WHERE stream = @stream AND epoch = @epoch AND seq IN (
      SELECT seq FROM parked WHERE stream = @stream AND epoch = @epoch LIMIT @limit)`);

  const switchTo = handle.transaction((stream: string, epoch: number) => {
    const shown = rolesOf.all(stream).find(({ role }) => role === 'shown');
    if (shown?.epoch === epoch) return 'switched';
    if (mayShow.get(stream, epoch) === undefined) return 'conflict';
    leave.run(stream);
    show.run(stream, epoch);
    return 'switched';
  });
  const drop = handle.transaction((stream: string, limit: number) => {
    let dropped = 0;
    for (const epoch of leftEpochs(rolesOf.all(stream))) {
      dropped += dropCells.run(stream, epoch, limit - dropped).changes;
      dropped += dropParked.run({ stream, epoch, limit: limit - dropped }).changes;
      if (dropped === limit) break;
    }
    return dropped;
  });
  return {
    start(stream, revisions) {
      assertStream(stream);
      const started = start.get(...markCells(NOTHING_FOLDED, revisions), stream, stream);
      return started ? { watermark: NOTHING_FOLDED, epoch: started.epoch, version: 1, revisions } : 'conflict';
    },
    // The driver would take another text in place of a lone surrogate.
    switchTo: (stream, epoch) => (stream.isWellFormed() ? switchTo.immediate(stream, epoch) : 'conflict'),
    abandon: (stream, epoch) => void (stream.isWellFormed() && abandon.run(stream, epoch)),
    drop: (stream, limit) => (stream.isWellFormed() ? drop.immediate(stream, limit) : 0),
  };
}
