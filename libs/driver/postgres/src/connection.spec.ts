import pg, { type Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { serverTests, startedHere } from '@tidemark/tools-services/testing';
import { PostgresConnection } from './connection.ts';
import { Proxy } from './proxy.ts';
import { open, USE } from './spec-database.ts';

const postgresTest = serverTests('postgres');

const UNAVAILABLE = { code: 'unavailable', outcome: 'not-done' };

/** What a driver's client makes of one statement. */
type Answer = 'ok' | readonly [code: string, severity: string] | 'lost';

/** A driver's client that answers BEGIN, lock, STORE and COMMIT as it is told. */
async function write(answers: readonly Answer[]): Promise<{ code: string; outcome: string; destroyed: boolean }> {
  const left = [...answers];
  let destroyed = false;
  const client = {
    connection: { stream: { cork() {}, uncork() {} } },
    listeners: () => [],
    on() {},
    query: () => answer(left.shift() as Answer),
    release: (destroy = false) => void (destroyed = destroy),
  };
  const pool = { connect: () => Promise.resolve(client) } as unknown as Pool;
  const options = { where: 'Postgres', use: USE, lockTimeoutMs: 1 };
  const connection = new PostgresConnection(options, { isInitialized: true } as DataSource, pool);
  const statement = { text: '', values: [] };
  const fault = await connection.write([statement, statement]).catch((thrown) => thrown);
  return { code: fault.code, outcome: fault.outcome, destroyed };
}

async function answer(given: Answer): Promise<{ rows: never[] }> {
  if (given === 'ok') return { rows: [] };
  if (given === 'lost') throw new Error('Connection terminated unexpectedly');
  const [code, severity] = given;
  throw Object.assign(new Error('raw'), { code, severity });
}

const ABORTED = ['25P02', 'ERROR'] as const;
const CANCELLED = ['57014', 'ERROR'] as const;
const ENDED = ['57P01', 'FATAL'] as const;

describe('a write of which a part fails', () => {
  test.each<[what: string, answers: Answer[], code: string, outcome: string, destroyed: boolean]>([
    ['the STORE is refused', ['ok', 'ok', ['53100', 'ERROR'], 'ok'], 'disk_full', 'not-done', false],
    ['the STORE is refused, the COMMIT cancelled', ['ok', 'ok', CANCELLED, CANCELLED], 'unavailable', 'not-done', true],
    ['the session ends in the STORE', ['ok', 'ok', ENDED, 'lost'], 'unavailable', 'not-done', true],
    ['the COMMIT is cancelled', ['ok', 'ok', 'ok', CANCELLED], 'unknown_outcome', 'unknown', true],
    ['the disk fails in the COMMIT', ['ok', 'ok', 'ok', ['58030', 'PANIC']], 'unknown_outcome', 'unknown', true],
    ['the disk is full in the COMMIT', ['ok', 'ok', 'ok', ['53100', 'PANIC']], 'unknown_outcome', 'unknown', true],
    ['the COMMIT is not answered', ['ok', 'ok', 'ok', 'lost'], 'unknown_outcome', 'unknown', true],
    ['the BEGIN alone is cancelled', [CANCELLED, 'ok', 'ok', 'ok'], 'unknown_outcome', 'unknown', false],
    ['the BEGIN is cancelled, the STORE lost', [CANCELLED, 'lost', 'lost', 'lost'], 'unknown_outcome', 'unknown', true],
    ['the BEGIN fails once begun', [CANCELLED, ABORTED, ABORTED, 'ok'], 'unavailable', 'not-done', false],
    ['the session ends before the BEGIN', [ENDED, 'lost', 'lost', 'lost'], 'unavailable', 'not-done', true],
  ])('OPS-6: %s', async (_, answers, code, outcome, destroyed) => {
    expect(await write(answers)).toEqual({ code, outcome, destroyed });
  });
});

const PID = { text: 'SELECT pg_backend_pid()', values: [] };
const BOUNDS = { text: `SELECT current_setting('statement_timeout'), current_setting('lock_timeout')`, values: [] };

describe('a connection', () => {
  // kills: open-pool.ts: pool.on('acquire', hear) => void 0
  postgresTest(
    'OPS-6: a session that ends as it begins fails what was asked of it, and nothing else',
    async ({ endpoint }) => {
      const proxy = await Proxy.before(plain(endpoint));
      const connection = await open(proxy.url, { poolMax: 2 });
      const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0';
      const length = Buffer.alloc(4);
      length.writeUInt32BE(fields.length + 4);
      proxy.lastWords = Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)]);
      for (const told of await Promise.allSettled([connection.read(PID), connection.read(PID)]))
        if (told.status === 'rejected') expect(told.reason).toMatchObject(UNAVAILABLE);
      proxy.lastWords = null;
      while ((await connection.read(PID).catch(() => [])).length !== 1);
      await connection.close();
      await proxy.close();
    },
  );

  // kills: connection.ts: idle_in_transaction_session_timeout: lockTimeoutMs => idle_in_transaction_session_timeout: 0
  postgresTest(
    'R46: a writer that stops in the middle of sending loses its locks after a while',
    async ({ endpoint }) => {
      const proxy = await Proxy.before(plain(endpoint));
      const stopped = await open(proxy.url);
      const other = await open(plain(endpoint), { lockTimeoutMs: 20_000 });
      proxy.heldFrom = 'from here on';
      const key = 462_046;
      const lock = { text: `SELECT pg_advisory_xact_lock(${key})`, values: [] };
      const lost = expect(stopped.write([lock, { text: `SELECT 'from here on'`, values: [] }])).rejects.toMatchObject({
        code: /unavailable|unknown_outcome/,
      });
      await proxy.holds();
      const held = { text: `SELECT 1 FROM pg_locks WHERE objid = ${key} AND granted`, values: [] };
      while ((await other.read(held)).length === 0);
      await other.write([lock]);
      proxy.drop();
      await lost;
      await Promise.all([stopped.close(), other.close(), proxy.close()]);
    },
    60_000,
  );

  // kills: connection.ts: statement_timeout: msMax => statement_timeout: 0
  postgresTest('OPS-4: a read that nobody waits for any more is ended by the server', async ({ endpoint }) => {
    const connection = await open(plain(endpoint));
    const asleep = { text: 'SELECT pg_sleep(3600)', values: [] };
    await expect(connection.read(asleep, 200)).rejects.toMatchObject(UNAVAILABLE);
    expect(await connection.read(BOUNDS)).toEqual([['20s', '1s']]);
    const outside = new pg.Client({ connectionString: plain(endpoint) });
    await outside.connect();
    expect((await outside.query({ ...BOUNDS, rowMode: 'array' })).rows).toEqual([['0', '0']]);
    await outside.end();
    await connection.close();
  });

  postgresTest('FLD-9: reads of one snapshot see nothing of what is written meanwhile', async ({ endpoint }) => {
    const [reader, writer] = [await open(plain(endpoint)), await open(plain(endpoint))];
    await writer.write([{ text: 'CREATE TABLE IF NOT EXISTS snapshot_spec (n integer)', values: [] }]);
    const count = { text: 'SELECT count(*)::integer FROM snapshot_spec', values: [] };
    const counts = await reader.snapshot(async (ask) => {
      const before = await ask<[number]>(count);
      await writer.write([{ text: 'INSERT INTO snapshot_spec VALUES (1)', values: [] }]);
      return [before, await ask<[number]>(count)];
    });
    expect(counts).toEqual([[[0]], [[0]]]);
    expect(await reader.read(count)).toEqual([[1]]);
    const refused = reader.snapshot((ask) => ask({ text: 'SELECT 1 / 0', values: [] }));
    await expect(refused).rejects.toMatchObject({ code: 'internal' });
    expect(await reader.read(count)).toEqual([[1]]);
    await writer.write([{ text: 'DROP TABLE snapshot_spec', values: [] }]);
    await Promise.all([reader.close(), writer.close()]);
    expect(() => reader.assertOpen()).toThrow('here is closed');
  });

  postgresTest(
    'OPS-4: while a backend is stopped a read gives up on it, and the next one has another',
    async (postgres) => {
      if (!startedHere('SIGSTOP of a backend', postgres)) return;
      const connection = await open(plain(postgres.endpoint));
      const [[pid] = [0]] = await connection.read<[number]>(PID);
      process.kill(pid, 'SIGSTOP');
      await expect(connection.read(PID, 100)).rejects.toMatchObject(UNAVAILABLE);
      expect(await connection.read<[number]>(PID)).not.toEqual([[pid]]);
      process.kill(pid, 'SIGCONT');
      await connection.close();
    },
  );
});

function plain(endpoint: string): string {
  const url = new URL(endpoint);
  url.searchParams.set('sslmode', 'disable');
  return url.href;
}
