import type { StreamState } from '@tidemark/libs-op-store-contract';
import type { Handle } from './open-file.ts';

export interface Erasing {
  /** To be run inside one write transaction. */
  erase(stream: string, nowSecs: bigint): bigint;
  describe(stream: string): StreamState;
}

/** The head is written down before the ops go, so that later ops take the seqs after it (RLY-3, RLY-19). */
export function prepareErasing(handle: Handle, head: (stream: string) => bigint): Erasing {
  const remember = handle.prepare<[string, bigint, bigint]>(`
    INSERT INTO stream_erasures (stream_id, head, erased_at) VALUES (?, ?, ?)
    ON CONFLICT (stream_id) DO UPDATE SET head = excluded.head, erased_at = excluded.erased_at`);
  const remove = handle.prepare<[string]>('DELETE FROM stream_ops WHERE stream_id = ?');
  const count = handle.prepare<[string], bigint>('SELECT count(*) FROM stream_ops WHERE stream_id = ?');
  count.pluck().safeIntegers();
  return {
    erase(stream, nowSecs) {
      const ops = count.get(stream) as bigint;
      if (ops === 0n) return 0n;
      remember.run(stream, head(stream), nowSecs);
      remove.run(stream);
      return ops;
    },
    describe(stream) {
      const top = head(stream);
      return { head: top, burned: top - (count.get(stream) as bigint) };
    },
  };
}
