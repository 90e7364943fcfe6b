import { type ViewChange, assertWellFormed, strongest } from '@tidemark/libs-views-contract';
import type { Handle } from './open-file.ts';

/** Applies all changes in one transaction: all are stored or none. Of several of one cell only the one that wins is written. */
export type Apply = (stream: string, epoch: number, changes: readonly ViewChange[]) => void;

/** The new write beats the stored one. Row values compare column by column; on a full tie the lower seq wins under both rules. */
const BEATS = {
  higher:
    '(excluded.rank, excluded.lamport, excluded.site, -excluded.seq) > (cells.rank, cells.lamport, cells.site, -cells.seq)',
  lower:
    '(excluded.rank, excluded.lamport, excluded.site, excluded.seq) < (cells.rank, cells.lamport, cells.site, cells.seq)',
};

const upsert = (when: string) => `
  INSERT INTO cells (stream, epoch, kind, id, field, member, shape, rank, lamport, site, seq, value)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (stream, epoch, kind, id, field, member) DO UPDATE
  SET rank = excluded.rank, lamport = excluded.lamport, site = excluded.site, seq = excluded.seq, value = excluded.value
  WHERE ${when}`;

export function prepareApply(handle: Handle): Apply {
  const registers = {
    higher: handle.prepare(upsert(`cells.value IS NOT NULL AND ${BEATS.higher}`)),
    lower: handle.prepare(upsert(`cells.value IS NOT NULL AND ${BEATS.lower}`)),
  };
  const remove = handle.prepare(upsert('cells.value IS NOT NULL OR excluded.seq < cells.seq'));
  const write = (stream: string, epoch: number, change: ViewChange) => {
    const { kind, id, field, member, shape } = change;
    if (change.effect === 'remove') {
      remove.run(stream, epoch, kind, id, field, member, shape, 0, 0, 0, change.seq, null);
      return;
    }
    const { rank, lamport, site, seq } = change.version;
    registers[change.rule].run(stream, epoch, kind, id, field, member, shape, rank, lamport, site, seq, change.value);
  };
  const applyAll = handle.transaction((stream: string, epoch: number, changes: readonly ViewChange[]) => {
    for (const change of strongest(changes)) write(stream, epoch, change);
  }).immediate;
  return (stream, epoch, changes) => {
    assertWellFormed(stream, changes);
    applyAll(stream, epoch, changes);
  };
}
