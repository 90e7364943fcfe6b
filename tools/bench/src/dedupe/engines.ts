import { join } from 'node:path';
import Database from 'better-sqlite3';
import { ClassicLevel } from 'classic-level';
import { open as openLmdb } from 'lmdb';

/** What the dedupe store needs of an engine: atomic durable puts, reads of many keys. Keys are stored keys, values 9 bytes. */
export interface Engine {
  readonly name: string;
  /** One transaction, on disk when it resolves. */
  commit(keys: readonly string[]): Promise<void>;
  lookup(keys: readonly string[]): Promise<(Uint8Array | undefined)[]>;
  count(): Promise<number>;
  close(): Promise<void>;
}

/** Committed for ever. */
export const VALUE = Buffer.from('020000000000000000', 'hex');

export async function openEngines(folder: string): Promise<readonly Engine[]> {
  return [
    await openLevel(join(folder, 'level')),
    openLmdbFile(join(folder, 'lmdb')),
    openSqlite(join(folder, 'sqlite')),
  ];
}

async function openLevel(folder: string): Promise<Engine> {
  const db = new ClassicLevel<string, Uint8Array>(folder, { valueEncoding: 'view' });
  await db.open();
  return {
    name: 'classic-level',
    commit: (keys) =>
      db.batch(
        keys.map((key) => ({ type: 'put' as const, key, value: VALUE })),
        { sync: true },
      ),
    lookup: (keys) => db.getMany([...keys]),
    count: async () => (await db.keys().all()).length,
    close: () => db.close(),
  };
}

/** `overlappingSync: false`: a commit resolves after its fsync. */
function openLmdbFile(path: string): Engine {
  const db = openLmdb<Buffer, string>({ path, encoding: 'binary', overlappingSync: false });
  return {
    name: 'lmdb',
    commit: async (keys) => {
      await db.batch(() => {
        for (const key of keys) void db.put(key, VALUE);
      });
    },
    lookup: (keys) => Promise.resolve(keys.map((key) => db.get(key))),
    count: () => Promise.resolve(db.getKeysCount()),
    close: () => db.close(),
  };
}

function openSqlite(file: string): Engine {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE ids (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID');
  const put = db.prepare('INSERT OR REPLACE INTO ids VALUES (?, ?)');
  const get = db.prepare<[string], Buffer>('SELECT value FROM ids WHERE key = ?').pluck();
  const count = db.prepare<[], number>('SELECT count(*) FROM ids').pluck();
  const putAll = db.transaction((keys: readonly string[]) => keys.forEach((key) => put.run(key, VALUE)));
  const getAll = db.transaction((keys: readonly string[]) => keys.map((key) => get.get(key)));
  return {
    name: 'better-sqlite3',
    commit: async (keys) => putAll(keys),
    lookup: async (keys) => getAll(keys),
    count: async () => count.get()!,
    close: async () => void db.close(),
  };
}
