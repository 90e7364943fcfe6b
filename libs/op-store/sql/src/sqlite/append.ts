import type { AppendOutcome } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';
import type { Handle } from './open-file.ts';
import { OP_COLUMNS, toCells } from './op-row.ts';
import { prepareHead } from './streams.ts';

export type Append = (stream: string, ops: readonly Op[]) => AppendOutcome[];

const STORE = `
  INSERT INTO stream_ops (stream_id, seq, ${OP_COLUMNS}) VALUES (?, ?${', ?'.repeat(13)})
  ON CONFLICT (stream_id, op_id) DO NOTHING`;

/**
 * To be run inside one write transaction. The seq is taken here, under the write lock, and moves on only when a row was stored: a
 * repeat answers its old seq and burns none (RLY-4, RLY-5).
 */
export function prepareAppend(handle: Handle): Append {
  const head = prepareHead(handle);
  const store = handle.prepare(STORE);
  const stored = handle.prepare<[string, string], bigint>(
    'SELECT seq FROM stream_ops WHERE stream_id = ? AND op_id = ?',
  );
  stored.pluck().safeIntegers();
  return (stream, ops) => {
    let next = head(stream) + 1n;
    return ops.map((op) => {
      if (store.run(stream, next, ...toCells(op)).changes === 1) return { kind: 'stored', seq: next++ };
      return { kind: 'existing', seq: stored.get(stream, op.opId) as bigint };
    });
  };
}
