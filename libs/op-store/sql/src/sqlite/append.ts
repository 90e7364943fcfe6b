import { Fault } from '@tidemark/libs-kernel';
import { I64_MAX } from '@tidemark/libs-wire';
import type { Append, Appended } from './command.ts';
import type { Heads } from './heads.ts';
import type { Handle } from './open-file.ts';
import { OP_CELLS, OP_COLUMNS } from './op-row.ts';
import { prepareRowids } from './rowids.ts';

const STORE = `
  INSERT INTO stream_ops (rowid, stream_id, seq, ${OP_COLUMNS}) VALUES (?, ?, ?${', ?'.repeat(OP_CELLS)})
  ON CONFLICT (stream_id, op_id) DO NOTHING`;

/** Index of the op's id among its cells. */
const OP_ID = OP_COLUMNS.split(', ').indexOf('op_id');

/**
 * To be run inside one write transaction. The seq is taken here, under the write lock, and moves on only when a row was stored: a
 * repeat answers its old seq and burns none (RLY-4, RLY-5).
 */
export function prepareAppend(handle: Handle, heads: Heads): (append: Append) => Appended {
  const rowids = prepareRowids(handle);
  const store = handle.prepare(STORE);
  const stored = handle.prepare<[string, string], bigint>(
    'SELECT seq FROM stream_ops WHERE stream_id = ? AND op_id = ?',
  );
  stored.pluck().safeIntegers();
  return ({ stream, cells }) => {
    const seqs: bigint[] = [];
    const existing: number[] = [];
    let next = heads.of(stream) + 1n;
    let rowid = rowids.next();
    for (let at = 0; at < cells.length; at += OP_CELLS) {
      if (next <= I64_MAX && store.run(rowid, stream, next, ...cells.slice(at, at + OP_CELLS)).changes === 1) {
        seqs.push(next++);
        rowid = null;
      } else {
        existing.push(seqs.length);
        seqs.push(stored.get(stream, cells[at + OP_ID] as string) ?? noSeqLeft(stream));
      }
    }
    heads.moved(stream, next - 1n);
    return { seqs, existing };
  };
}

function noSeqLeft(stream: string): never {
  throw new Fault('unavailable', `stream ${JSON.stringify(stream)} has no higher number`);
}
