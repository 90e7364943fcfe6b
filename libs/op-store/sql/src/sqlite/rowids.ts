import type { Handle } from './open-file.ts';

export interface Rowids {
  /** The rowid that the next op must take; null: the one that SQLite gives it. */
  next(): bigint | null;
  /** To be called inside the transaction that removes ops, before it does. */
  remember(): void;
}

/**
 * SQLite gives a new row the highest rowid plus one, so removing the newest rows would free their numbers, and a follower of the changes,
 * who looks above the highest rowid that it saw, would miss what takes them. The highest one ever removed is kept, so that ours go on above it.
 */
export function prepareRowids(handle: Handle): Rowids {
  const next = handle.prepare<[], bigint>(
    'SELECT last + 1 FROM removed_rowids WHERE last > (SELECT coalesce(max(rowid), 0) FROM stream_ops)',
  );
  next.pluck().safeIntegers();
  const remember = handle.prepare(`
    INSERT INTO removed_rowids (only_row, last) SELECT 1, max(rowid) FROM stream_ops WHERE true
    ON CONFLICT (only_row) DO UPDATE SET last = max(last, excluded.last)`);
  return { next: () => next.get() ?? null, remember: () => void remember.run() };
}
