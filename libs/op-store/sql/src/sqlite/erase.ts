import type { Erase, Erased } from './command.ts';
import type { Handle } from './open-file.ts';
import { prepareRowids } from './rowids.ts';
import { prepareHead } from './streams.ts';

/** Ops removed in one transaction: it holds up other writes for some ten milliseconds. */
const PART_OPS = 2000;

/**
 * To be run inside one write transaction, part by part. The head is written down before the first ops go, so that later ops take the seqs
 * after it, also when the erasure ends halfway (RLY-3, RLY-19).
 */
export function prepareErase(handle: Handle): (erase: Erase) => Erased {
  const head = prepareHead(handle);
  const rowids = prepareRowids(handle);
  const remember = handle.prepare<[string, bigint, bigint]>(`
    INSERT INTO stream_erasures (stream_id, head, erased_at) VALUES (?, ?, ?)
    ON CONFLICT (stream_id) DO UPDATE SET head = excluded.head, erased_at = excluded.erased_at`);
  const some = handle.prepare<[string]>('SELECT 1 FROM stream_ops WHERE stream_id = ?');
  const remove = handle.prepare<[string, string, bigint, number]>(`
    DELETE FROM stream_ops WHERE stream_id = ? AND seq IN
      (SELECT seq FROM stream_ops WHERE stream_id = ? AND seq <= ? ORDER BY seq LIMIT ?)`);
  return ({ stream, upTo, nowSecs }) => {
    const last = upTo ?? head(stream);
    if (some.get(stream) === undefined) return { ops: 0, upTo: last, more: false };
    if (upTo === null) remember.run(stream, last, nowSecs);
    rowids.remember();
    const ops = remove.run(stream, stream, last, PART_OPS).changes;
    return { ops, upTo: last, more: ops === PART_OPS };
  };
}
