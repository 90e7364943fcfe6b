import { copyFileSync, readFileSync } from 'node:fs';
import { anOp, someOps } from '@tidemark/libs-op-store-contract/testing';
import Database from 'better-sqlite3';
import { Scratch } from './scratch.ts';

// Every commit is synced; a busy disk takes its time.
jest.setTimeout(60_000);

let scratch: Scratch;
beforeEach(() => (scratch = new Scratch()));
afterEach(() => scratch.remove());

/** The tables of the first relays: ops without `extra`, claims, no presence. */
const OLD = `
  CREATE TABLE stream_ops (
    stream_id TEXT NOT NULL, seq INTEGER NOT NULL, envelope_version INTEGER NOT NULL, op_id TEXT NOT NULL,
    lamport INTEGER NOT NULL, site INTEGER NOT NULL, domain TEXT NOT NULL DEFAULT 'task', target_kind TEXT NOT NULL,
    target_id TEXT NOT NULL, field TEXT NOT NULL, op_type TEXT NOT NULL, value TEXT, author TEXT NOT NULL,
    wall_clock TEXT NOT NULL, PRIMARY KEY (stream_id, seq), UNIQUE (stream_id, op_id));
  CREATE TABLE prefix_claims (
    stream_id TEXT NOT NULL, prefix TEXT NOT NULL, replica_uuid TEXT NOT NULL,
    PRIMARY KEY (stream_id, prefix), UNIQUE (stream_id, replica_uuid));
  INSERT INTO stream_ops VALUES
    ('s', 1, 1, 'old', 7, 42, 'task', 'item', 'ab12.7x3k', 'title', 'set', 'hello', 'alice', '2026-10-12T08:15:00Z');
  INSERT INTO prefix_claims VALUES ('s', 'aaaa', 'uuid-A');`;

function inFile<T>(work: (file: Database.Database) => T): T {
  const file = new Database(scratch.file);
  try {
    return work(file);
  } finally {
    file.close();
  }
}

/** Each row as its cells with spaces between; NULL is empty. */
function query(sql: string): string[] {
  return inFile((file) => Array.from(file.prepare(sql).raw().all() as unknown[][], (cells) => cells.join(' ')));
}

describe('opening a file', () => {
  it('OPS-5: a new file gets exactly the tables of the protocol', async () => {
    await (await scratch.open()).close();
    const columns = ['stream_ops', 'prefix_claims', 'machine_presence'].map((table) =>
      query(`SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info('${table}')`),
    );
    expect(columns).toEqual([
      [
        'stream_id TEXT 1  1',
        'seq INTEGER 1  2',
        'envelope_version INTEGER 1  0',
        'op_id TEXT 1  0',
        'lamport INTEGER 1  0',
        'site INTEGER 1  0',
        "domain TEXT 1 'task' 0",
        'target_kind TEXT 1  0',
        'target_id TEXT 1  0',
        'field TEXT 1  0',
        'op_type TEXT 1  0',
        'value TEXT 0  0',
        'author TEXT 1  0',
        'wall_clock TEXT 1  0',
        "extra TEXT 1 '{}' 0",
      ],
      ['stream_id TEXT 1  1', 'prefix TEXT 1  2', 'replica_uuid TEXT 1  0'],
      [
        'stream_id TEXT 1  1',
        'machine_id TEXT 1  2',
        'name TEXT 1  0',
        'last_seen INTEGER 1  0',
        'interval_secs INTEGER 1  0',
      ],
    ]);
    const keys = query(`
      SELECT t.name, (SELECT group_concat(name) FROM pragma_index_info(i.name)) FROM sqlite_schema t, pragma_index_list(t.name) i
      WHERE t.type = 'table' ORDER BY 1, 2`);
    expect(keys).toEqual([
      'machine_presence stream_id,last_seen',
      'machine_presence stream_id,machine_id',
      'prefix_claims stream_id,prefix',
      'prefix_claims stream_id,replica_uuid',
      'stream_erasures stream_id',
      'stream_ops stream_id,op_id',
      'stream_ops stream_id,seq',
    ]);
  });

  it('OPS-5: a file without extra and presence gains both, keeps ops and claims, and opens again unchanged', async () => {
    inFile((file) => file.exec(OLD));
    const { opStore, prefixRegistry, presenceBoard } = await scratch.open();
    expect((await opStore.read('s', 0n, 10)).ops).toEqual([{ seq: 1n, op: anOp({ opId: 'old' }) }]);
    expect(await opStore.append('s', [anOp({ opId: 'old' }), anOp({ opId: 'new' })])).toMatchObject([
      { kind: 'existing' },
      { kind: 'stored', seq: 2n },
    ]);
    expect(await prefixRegistry.register('s', 'bbbb', 'uuid-A')).toEqual({ outcome: 'reassigned', newPrefix: 'aaaa' });
    await presenceBoard.announce('s', { machineId: 'm', name: 'mini', intervalSecs: 300n }, 100n, 0n);
    await opStore.close();
    const schema = query('SELECT sql FROM sqlite_schema');
    const again = await scratch.open();
    expect((await again.presenceBoard.machines('s', 0n, 10)).machines).toHaveLength(1);
    expect(query('SELECT sql FROM sqlite_schema')).toEqual(schema);
  });

  it('OPS-5: a file of format 2 gains what later formats added, and keeps its ops and erasures', async () => {
    const { opStore } = await scratch.open();
    await opStore.append('erased', someOps(3));
    await opStore.erase('erased');
    await opStore.append('s', someOps(2));
    await opStore.close();
    inFile((file) => file.exec('DROP TABLE removed_rowids; PRAGMA user_version = 2'));
    const again = await scratch.open();
    expect(await again.opStore.head('erased')).toBe(3n);
    expect(await again.opStore.erase('s')).toBe(2n);
    expect(await again.opStore.append('s', someOps(1))).toEqual([{ kind: 'stored', seq: 3n }]);
  });

  it('OPS-5, RLY-18: eight that open an old file at once all succeed', async () => {
    inFile((file) => file.exec(OLD));
    const stores = await Promise.all(Array.from({ length: 8 }, () => scratch.open()));
    for (const { opStore } of stores) expect((await opStore.read('s', 0n, 10)).ops).toHaveLength(1);
  });

  // kills: migrate.ts: format > FORMAT => format > FORMAT + 1
  it('OPS-5: a file of a newer format is refused in one line that names it, and left as it is', async () => {
    await (await scratch.open()).close();
    inFile((file) => file.pragma('user_version = 4'));
    const before = readFileSync(scratch.file);
    await expect(scratch.open()).rejects.toMatchObject({
      code: 'misconfigured',
      message: `${scratch.file} has format 4, and this build reads up to 3: start a newer build`,
    });
    expect(readFileSync(scratch.file).equals(before)).toBe(true);
  });

  it('OPS-5: a database of another application is refused and left as it is', async () => {
    inFile((file) => file.exec('PRAGMA application_id = 7; CREATE TABLE theirs (x)'));
    copyFileSync(scratch.file, `${scratch.file}.before`);
    await expect(scratch.open()).rejects.toMatchObject({
      code: 'misconfigured',
      message: `${scratch.file} is not an op log`,
    });
    expect(readFileSync(scratch.file).equals(readFileSync(`${scratch.file}.before`))).toBe(true);
  });

  it('RLY-15: presence and claims outlive the connection', async () => {
    const { prefixRegistry, presenceBoard, close } = await scratch.open();
    await prefixRegistry.register('s', 'aaaa', 'uuid-A');
    await presenceBoard.announce('s', { machineId: 'm', name: 'mini', intervalSecs: 300n }, 100n, 0n);
    await close();
    const again = await scratch.open();
    expect(await again.prefixRegistry.register('s', 'aaaa', 'uuid-B')).toEqual({
      outcome: 'reassigned',
      newPrefix: 'd7rm',
    });
    expect((await again.presenceBoard.machines('s', 0n, 1)).machines[0]?.name).toBe('mini');
  });
});
