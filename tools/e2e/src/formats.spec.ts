import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import { ClassicLevel } from 'classic-level';
import type { ServiceName } from './launcher.ts';
import { ServiceProcess, buildServices } from './service-process.ts';

const NAMES = ['relay', 'ingest', 'fold-worker'] as const;

let folder: string;
let data: string;

/** One folder that all three have made their stores in. */
beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-formats-'));
  data = path.join(folder, 'made');
  await buildServices(...NAMES);
  const services = NAMES.map(start);
  for (const service of services) await service.listening();
  for (const service of services) expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
}, 120_000);

beforeEach(() => {
  data = mkdtempSync(path.join(folder, 'copy-'));
  cpSync(path.join(folder, 'made'), data, { recursive: true });
});

afterAll(() => rmSync(folder, { recursive: true }));

const ADDRESS = { relay: 'RELAY_ADDR', ingest: 'INGEST_ADDR', 'fold-worker': 'FOLD_ADDR' } as const;

function start(name: ServiceName): ServiceProcess {
  return new ServiceProcess(name, { TIDEMARK_DATA: data, [ADDRESS[name]]: '127.0.0.1:0' });
}

function inSqlite(file: string, sql: string): void {
  const db = new Sqlite(path.join(data, file));
  db.exec(sql);
  db.close();
}

async function inLevel(folder: string, key: string, value: string): Promise<void> {
  const db = new ClassicLevel(path.join(data, folder));
  await db.put(key, value);
  await db.close();
}

const newer = (file: string) => async () => inSqlite(file, 'PRAGMA user_version = 99');

/** Every embedded store, who opens it, and what a newer build would leave in it. */
const STORES: readonly (readonly [file: string, name: ServiceName, upgrade: () => Promise<void>])[] = [
  ['relay.sqlite', 'relay', newer('relay.sqlite')],
  ['queue/queue.sqlite', 'ingest', newer('queue/queue.sqlite')],
  ['dedupe', 'ingest', () => inLevel('dedupe', '!format', '99')],
  ['views.sqlite', 'fold-worker', newer('views.sqlite')],
];

test.each(STORES)(
  'OPS-5: %s of a newer build is refused by %s in one line that names it',
  async (file, name, upgrade) => {
    await upgrade();
    const { code, stderr } = await start(name).exited;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toMatch(`${name}: cannot start: `);
    expect(stderr).toContain(path.join(data, file));
    expect(stderr).toMatch(/format 99\b/);
  },
  60_000,
);

test('OPS-5: an op log of an older relay is migrated at the start, and serves what it holds', async () => {
  rmSync(data, { recursive: true });
  mkdirSync(data);
  inSqlite('relay.sqlite', OLD_LOG);
  const relay = start('relay');
  const { url } = await relay.listening();
  const { ops, next } = (await (await fetch(`${url}/streams/s/ops`)).json()) as { ops: object[]; next: number };
  expect([ops, next]).toEqual([[expect.objectContaining({ op_id: 'old', value: null })], 1]);
  expect(await relay.stop()).toMatchObject({ code: 0, stderr: '' });
}, 60_000);

/** The tables of the first relays of the protocol: no format, no unknown fields, no presence. */
const OLD_LOG = `
  CREATE TABLE stream_ops (
    stream_id TEXT NOT NULL, seq INTEGER NOT NULL, envelope_version INTEGER NOT NULL, op_id TEXT NOT NULL,
    lamport INTEGER NOT NULL, site INTEGER NOT NULL, domain TEXT NOT NULL DEFAULT 'task', target_kind TEXT NOT NULL,
    target_id TEXT NOT NULL, field TEXT NOT NULL, op_type TEXT NOT NULL, value TEXT, author TEXT NOT NULL,
    wall_clock TEXT NOT NULL, PRIMARY KEY (stream_id, seq), UNIQUE (stream_id, op_id));
  INSERT INTO stream_ops VALUES ('s', 1, 1, 'old', 7, 42, 'task', 'item', 'ab12.7x3k', 'title', 'set', NULL, '', '');`;
