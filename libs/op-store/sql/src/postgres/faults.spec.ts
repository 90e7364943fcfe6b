import type { Fault } from '@tidemark/libs-kernel';
import { anOp, readAll, someOps } from '@tidemark/libs-op-store-contract/testing';
import { serverTests, startedHere } from '@tidemark/tools-services/testing';
import { mapError, WriteFailed, type WriteStage } from './map-error.ts';
import { postgresPrefixRegistry } from './prefix-registry.ts';
import { Proxy } from './proxy.ts';
import { Scratch } from './scratch.ts';

const postgresTest = serverTests('postgres');

const UNAVAILABLE = { code: 'unavailable', outcome: 'not-done' };
const UNKNOWN = { code: 'unknown_outcome', outcome: 'unknown' };

describe('a connection that breaks', () => {
  postgresTest(
    'R32, OPS-6: a session ended while it waits has certainly not stored; the next append has a new one',
    async ({ endpoint }) => {
      const scratch = await new Scratch(endpoint).make();
      const { opStore } = await scratch.open();
      const holder = await scratch.client();
      await holder.query('BEGIN');
      await holder.query(`SELECT pg_advisory_xact_lock(1, hashtext('s'))`);
      const appended = expect(opStore.append('s', someOps(1))).rejects.toMatchObject(UNAVAILABLE);
      const end = `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
      while ((await holder.query(end)).rowCount === 0);
      await appended;
      await holder.query('COMMIT');
      expect(await opStore.append('s', someOps(1))).toEqual([{ kind: 'stored', seq: 1n }]);
      await scratch.remove();
    },
  );

  postgresTest(
    'R23, R32, OPS-6: an append whose answer is lost may be stored, and a repeat finds it',
    async ({ endpoint }) => {
      const scratch = await new Scratch(endpoint).make();
      await scratch.open();
      const proxy = await Proxy.before(scratch.url);
      const { opStore } = await scratch.open({ url: proxy.url, poolMax: 1 });
      await (await scratch.open()).opStore.append('s', someOps(1));
      // Leaves one connection behind, which the append then uses.
      await opStore.head('s');
      proxy.isDeaf = true;
      const { opStore: direct } = await scratch.open();
      const appended = expect(opStore.append('s', someOps(2))).rejects.toMatchObject(UNKNOWN);
      while ((await direct.head('s')) !== 2n);
      proxy.drop();
      await appended;
      expect(await direct.append('s', someOps(2))).toEqual([
        { kind: 'existing', seq: 1n },
        { kind: 'existing', seq: 2n },
      ]);
      await scratch.remove();
      await proxy.close();
    },
  );

  // kills: open-pool.ts: pool.on('acquire', hear) => void 0
  postgresTest(
    'OPS-6: a session that ends as it begins fails what was asked of it, and nothing else',
    async ({ endpoint }) => {
      const scratch = await new Scratch(endpoint).make();
      const proxy = await Proxy.before(scratch.url);
      const { opStore } = await scratch.open({ url: proxy.url, poolMax: 2 });
      const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0';
      const length = Buffer.alloc(4);
      length.writeUInt32BE(fields.length + 4);
      proxy.lastWords = Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)]);
      for (const told of await Promise.allSettled([opStore.head('s'), opStore.head('s')]))
        if (told.status === 'rejected') expect(told.reason).toMatchObject(UNAVAILABLE);
      proxy.lastWords = null;
      while ((await opStore.head('s').catch(() => null)) !== 0n);
      await scratch.remove();
      await proxy.close();
    },
  );

  // kills: connection.ts: idle_in_transaction_session_timeout: lockTimeoutMs => idle_in_transaction_session_timeout: 0
  postgresTest(
    'R46: a writer that stops in the middle of sending loses the stream after a while, and others go on without a gap',
    async ({ endpoint }) => {
      const scratch = await new Scratch(endpoint).make();
      const [{ opStore: other }, look] = [await scratch.open(), await scratch.client()];
      const sizes = [10, 1_000_000];
      for (const [at, size] of sizes.entries()) {
        const proxy = await Proxy.before(scratch.url);
        const { opStore: stopped } = await scratch.open({ url: proxy.url, poolMax: 1, lockTimeoutMs: 500 });
        await stopped.head('s');
        // BEGIN, the op and the lock arrive, and nothing that comes after.
        proxy.heldFrom = size < 1000 ? 'INSERT INTO stream_ops' : 'WITH given';
        const op = anOp({ opId: `stopped-${at}`, value: 'v'.repeat(size) });
        const lost = expect(stopped.append('s', [op])).rejects.toMatchObject({ code: /unavailable|unknown_outcome/ });
        const held = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted`;
        while ((await look.query(held)).rowCount === 0);
        const seq = BigInt(2 * at + 1);
        expect(await other.append('s', [anOp({ opId: `other-${at}` })])).toEqual([{ kind: 'stored', seq }]);
        proxy.drop();
        await lost;
        expect(await other.append('s', [op])).toEqual([{ kind: 'stored', seq: seq + 1n }]);
        await proxy.close();
      }
      await scratch.remove();
    },
    60_000,
  );

  // kills: append.ts: const STAGED_UNITS_MIN = 8192 => const STAGED_UNITS_MIN = 8192_000
  postgresTest('R46: a writer that stops in the middle of a large op holds nobody up', async ({ endpoint }) => {
    const scratch = await new Scratch(endpoint).make();
    const { opStore: other } = await scratch.open();
    const proxy = await Proxy.before(scratch.url);
    const { opStore: stopped } = await scratch.open({ url: proxy.url, poolMax: 1 });
    await stopped.head('s');
    proxy.heldFrom = 'from here on';
    const op = anOp({ opId: 'large', value: `${'v'.repeat(400_000)} from here on ${'v'.repeat(400_000)}` });
    const lost = expect(stopped.append('s', [op])).rejects.toMatchObject({ outcome: 'unknown' });
    await proxy.holds();
    const look = await scratch.client();
    for (let i = 0; i < 100; i++) await look.query(`SELECT 1`);
    expect((await look.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted`)).rowCount).toBe(0);
    expect(await other.append('s', someOps(1))).toEqual([{ kind: 'stored', seq: 1n }]);
    proxy.drop();
    await lost;
    await scratch.remove();
    await proxy.close();
  });

  // kills: connection.ts: statement_timeout: msMax => statement_timeout: 0
  postgresTest('OPS-4: a read that nobody waits for any more is ended by the server', async ({ endpoint }) => {
    const scratch = await new Scratch(endpoint).make();
    const connection = await scratch.connection();
    const asleep = { text: 'SELECT pg_sleep(3600)', values: [] };
    await expect(connection.read(asleep, 200)).rejects.toMatchObject(UNAVAILABLE);
    const bounds = `SELECT current_setting('statement_timeout'), current_setting('lock_timeout')`;
    expect(await connection.read({ text: bounds, values: [] })).toEqual([['20s', '1s']]);
    expect((await (await scratch.client()).query(bounds)).rows).toEqual([{ current_setting: '0' }]);
    await scratch.remove();
  });

  postgresTest(
    'OPS-4: while a backend is stopped a read gives up on it, and the next one has another',
    async (postgres) => {
      if (!startedHere('SIGSTOP of a backend', postgres)) return;
      const scratch = await new Scratch(postgres.endpoint).make();
      await (await scratch.open()).opStore.append('s', someOps(1));
      const connection = await scratch.connection();
      const me = { text: 'SELECT pg_backend_pid()', values: [] };
      const [[pid] = [0]] = await connection.read<[number]>(me);
      process.kill(pid, 'SIGSTOP');
      await expect(connection.read(me, 100)).rejects.toMatchObject(UNAVAILABLE);
      expect(await connection.read<[number]>(me)).not.toEqual([[pid]]);
      process.kill(pid, 'SIGCONT');
      await scratch.remove();
    },
  );

  postgresTest(
    'RLY-6, OPS-2: after kill -9 of the server what was answered is there, and the same pool goes on',
    async (postgres) => {
      if (!startedHere('kill -9 of Postgres', postgres)) return;
      const scratch = await new Scratch(postgres.endpoint).make();
      const { opStore } = await scratch.open();
      await Promise.all(Array.from({ length: 4 }, (_, i) => opStore.append(`s${i}`, someOps(5))));
      const held = opStore.append('s0', someOps(2000, 'late')).then(
        () => 'done',
        (fault: Fault) => fault.outcome,
      );
      await postgres.server.crash();
      const outcome = await held;
      // A write on a connection of which the pool does not know yet that it is dead would be unknown; as many reads as there may be find them.
      const pings = Array.from({ length: 16 }, () => opStore.ping());
      for (const ping of pings) await expect(ping).rejects.toMatchObject(UNAVAILABLE);
      await expect(opStore.append('s1', [anOp({ opId: 'down' })])).rejects.toMatchObject(UNAVAILABLE);
      await expect(scratch.open()).rejects.toMatchObject(UNAVAILABLE);
      await postgres.server.restart();
      for (let i = 1; i < 4; i++) expect(await readAll(opStore, `s${i}`, 10)).toHaveLength(5);
      expect(await opStore.append('s1', [anOp({ opId: 'up' })])).toEqual([{ kind: 'stored', seq: 6n }]);
      const stored = (await opStore.head('s0')) - 5n;
      expect({ outcome, stored }).toEqual({ outcome, stored: { 'not-done': 0n, done: 2000n }[outcome] ?? stored });
      const late = await opStore.append('s0', someOps(2000, 'late'));
      expect(late.map(({ seq }) => seq)).toEqual(Array.from({ length: 2000 }, (_, i) => BigInt(i + 6)));
      await scratch.remove();
    },
    60_000,
  );

  postgresTest(
    'RLY-15: a replica whose candidates are all taken is refused as unavailable, and claims nothing',
    async ({ endpoint }) => {
      const scratch = await new Scratch(endpoint).make();
      const registry = postgresPrefixRegistry(await scratch.connection(), 2);
      for (const prefix of ['aaaa', 'd7rm', 'w299']) await registry.register('s', prefix, `owner of ${prefix}`);
      await expect(registry.register('s', 'aaaa', 'uuid-B')).rejects.toMatchObject({ code: 'unavailable' });
      expect(await registry.register('s', 'free', 'uuid-B')).toEqual({ outcome: 'registered' });
      await scratch.remove();
    },
  );
});

describe('what Postgres says becomes a fault', () => {
  const said = (code: string, severity = 'ERROR') => Object.assign(new Error('raw'), { code, severity });

  test.each([
    ['08006', 'unavailable', 'not-done'],
    ['22021', 'invalid', 'not-done'],
    ['23505', 'unavailable', 'not-done'],
    ['25006', 'unavailable', 'not-done'],
    ['28P01', 'misconfigured', 'not-done'],
    ['3D000', 'misconfigured', 'not-done'],
    ['40P01', 'unavailable', 'not-done'],
    ['40001', 'unavailable', 'not-done'],
    ['42501', 'misconfigured', 'not-done'],
    ['42601', 'internal', 'unknown'],
    ['53100', 'disk_full', 'not-done'],
    ['53300', 'unavailable', 'not-done'],
    ['54000', 'too_large', 'not-done'],
    ['55P03', 'unavailable', 'not-done'],
    ['57014', 'unavailable', 'not-done'],
    ['57P03', 'unavailable', 'not-done'],
    ['58030', 'unavailable', 'not-done'],
    ['XX000', 'internal', 'unknown'],
    ['XX001', 'corrupt', 'not-done'],
  ])('OPS-6: %s is %s, %s', (code, fault, outcome) => {
    expect(mapError(said(code), 'Postgres')).toMatchObject({ code: fault, outcome });
  });

  // kills: map-error.ts: isTold(code) ? => false ?
  it('SEC-2: what is wrong with a value is said without the address and the words of the server', () => {
    const words = (code: string) => mapError(said(code), 'Postgres db.internal:5432/ops').message;
    expect(words('54000')).toBe('Postgres cannot hold a text of this size');
    expect(words('22021')).toBe('Postgres cannot store a character');
    expect(words('57014')).toBe('Postgres db.internal:5432/ops took too long (57014: raw)');
  });

  test.each(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EPIPE'])('OPS-6: %s is unavailable', (code) => {
    expect(mapError(Object.assign(new Error('raw'), { code }), 'Postgres')).toMatchObject(UNAVAILABLE);
  });

  it('OPS-6: a write that the server refused is not done; one that it did not answer is unknown', () => {
    const failed = (cause: Error, stage: WriteStage) => mapError(new WriteFailed(cause, stage), 'Postgres');
    const lost = new Error('Connection terminated unexpectedly');
    expect(failed(said('57P01', 'FATAL'), 'transaction')).toMatchObject(UNAVAILABLE);
    expect(failed(said('57P01', 'FATAL'), 'commit')).toMatchObject(UNKNOWN);
    expect(failed(said('53100'), 'commit')).toMatchObject({ code: 'disk_full', outcome: 'not-done' });
    expect(failed(lost, 'transaction')).toMatchObject(UNKNOWN);
    expect(failed(lost, 'commit')).toMatchObject(UNKNOWN);
  });

  test.each([
    ['58030', 'PANIC'],
    ['58030', 'PANIK'],
    ['53100', 'PANIC'],
    ['08P01', 'FATAL'],
    ['57014', 'ERROR'],
  ])('OPS-6: a COMMIT that fails with %s as %s may be stored', (code, severity) => {
    const failed = new WriteFailed(said(code, severity), 'commit');
    expect(mapError(failed, 'Postgres')).toMatchObject(UNKNOWN);
  });

  it('OPS-6: a pooler that does not reach its server is unavailable; what it passed on before may be stored', () => {
    const pooler = (message: string) => Object.assign(said('08P01', 'FATAL'), { message });
    const failed = (message: string) => mapError(new WriteFailed(pooler(message), 'transaction'), 'Postgres');
    expect(mapError(pooler('server conn crashed?'), 'Postgres')).toMatchObject(UNAVAILABLE);
    expect(mapError(said('08P01'), 'Postgres')).toMatchObject({ code: 'internal' });
    expect(failed('server login has been failing, try again later')).toMatchObject(UNAVAILABLE);
    expect(failed('query_wait_timeout')).toMatchObject(UNAVAILABLE);
    expect(failed('server conn crashed?')).toMatchObject(UNKNOWN);
  });
});
