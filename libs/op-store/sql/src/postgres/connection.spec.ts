import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { someOps } from '@tidemark/libs-op-store-contract/testing';
import { serverTests } from '@tidemark/tools-services/testing';
import { PostgresConnection } from './connection.ts';
import { Scratch } from './scratch.ts';

const postgresTest = serverTests('postgres');

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
  const options = { where: 'Postgres', lockTimeoutMs: 1 };
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

  postgresTest(
    'OPS-6: a COMMIT that is cancelled may be stored, and leaves no session behind',
    async ({ endpoint }) => {
      const scratch = await new Scratch(endpoint).make();
      const { opStore } = await scratch.open({ poolMax: 1 });
      const holder = await scratch.client();
      await holder.query(`
      CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock(9, 9); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON stream_ops DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION linger()`);
      await holder.query('BEGIN; SELECT pg_advisory_xact_lock(9, 9)');
      const appended = expect(opStore.append('s', someOps(1))).rejects.toMatchObject({ code: 'unknown_outcome' });
      const cancel = `SELECT pg_cancel_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 9 AND NOT granted`;
      while ((await holder.query(cancel)).rowCount === 0);
      await appended;
      await holder.query('COMMIT');
      expect(await opStore.append('s', someOps(1))).toEqual([{ kind: 'stored', seq: 1n }]);
      await scratch.remove();
    },
  );
});
