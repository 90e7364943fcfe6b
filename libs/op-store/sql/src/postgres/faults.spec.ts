import { mapError } from '@tidemark/libs-driver-postgres';
import { Proxy } from '@tidemark/libs-driver-postgres/testing';
import type { Fault } from '@tidemark/libs-kernel';
import { anOp, readAll, someOps } from '@tidemark/libs-op-store-contract/testing';
import { serverTests, startedHere } from '@tidemark/tools-services/testing';
import { postgresPrefixRegistry } from './prefix-registry.ts';
import { Scratch } from './scratch.ts';
import { OPS } from './use.ts';

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

test('SEC-2: what is wrong with a value is said in words for whoever sent it', () => {
  const said = Object.assign(new Error('raw'), { code: '54000', severity: 'ERROR' });
  expect(mapError(said, 'Postgres db.internal:5432/ops', OPS).message).toBe('Postgres cannot hold a text of this size');
});
