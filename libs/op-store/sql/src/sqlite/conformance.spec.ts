import {
  opStoreConformance,
  prefixRegistryConformance,
  presenceBoardConformance,
} from '@tidemark/libs-op-store-contract/testing';
import type { Op } from '@tidemark/libs-wire';
import Database from 'better-sqlite3';
import type { Cell } from './command.ts';
import { OP_CELLS, OP_COLUMNS, pushCells } from './op-row.ts';
import { Scratch } from './scratch.ts';

// Every commit is synced; a busy disk takes its time.
jest.setTimeout(60_000);

let scratch: Scratch;
beforeEach(() => (scratch = new Scratch()));
afterEach(() => scratch.remove());

describe('the op store in SQLite', () => {
  const open = async () => (await scratch.open()).opStore;
  test.each(opStoreConformance)('$title', ({ run }) => run({ open, plant }));
});

describe('the prefix registry in SQLite', () => {
  const open = async () => (await scratch.open()).prefixRegistry;
  test.each(prefixRegistryConformance)('$title', ({ run }) => run({ open }));
});

describe('the presence board in SQLite', () => {
  const open = async () => (await scratch.open()).presenceBoard;
  test.each(presenceBoardConformance)('$title', ({ run }) => run({ open }));
});

async function plant(stream: string, seq: bigint, op: Op): Promise<void> {
  await (await scratch.open()).close();
  const other = new Database(scratch.file);
  const sql = `INSERT INTO stream_ops (stream_id, seq, ${OP_COLUMNS}) VALUES (?, ?${', ?'.repeat(OP_CELLS)})`;
  const cells: Cell[] = [];
  pushCells(op, cells);
  other.prepare(sql).run(stream, seq, ...cells);
  other.close();
}
