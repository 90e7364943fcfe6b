import type { ViewChange } from '@tidemark/libs-views-contract';
import type { Handle } from './open-file.ts';

/** Applies all changes in one transaction: all are stored or none. */
export type Apply = (stream: string, epoch: number, changes: readonly ViewChange[]) => void;

/** The new write beats the stored one. Row values compare column by column; on a full tie the lower seq wins under both rules. */
const BEATS = {
  higher: '(excluded.rank, excluded.lamport, excluded.site, -excluded.seq) > (rank, lamport, site, -seq)',
  lower: '(excluded.rank, excluded.lamport, excluded.site, excluded.seq) < (rank, lamport, site, seq)',
};

const upsert = (beats: string) => `
  INSERT INTO fields (stream, epoch, kind, id, field, rank, lamport, site, seq, value)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (stream, epoch, kind, id, field) DO UPDATE
  SET rank = excluded.rank, lamport = excluded.lamport, site = excluded.site, seq = excluded.seq, value = excluded.value
  WHERE ${beats}`;

export function prepareApply(handle: Handle): Apply {
  const registers = {
    higher: handle.prepare(upsert(BEATS.higher)),
    lower: handle.prepare(upsert(BEATS.lower)),
  };
  const applyAll = handle.transaction((stream: string, epoch: number, changes: readonly ViewChange[]) => {
    for (const { kind, id, field, value, rule, version } of changes) {
      const { rank, lamport, site, seq } = version;
      registers[rule].run(stream, epoch, kind, id, field, rank, lamport, site, seq, value);
    }
  });
  return applyAll.immediate;
}
