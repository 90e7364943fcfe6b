import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { serverTests } from '@tidemark/tools-services/testing';
import { Scratch } from './scratch.ts';

const postgresTest = serverTests('postgres');

function scratchTest(title: string, run: (scratch: Scratch) => Promise<void>): void {
  postgresTest(
    title,
    async ({ endpoint }) => {
      const scratch = await new Scratch(endpoint).make();
      try {
        await run(scratch);
      } finally {
        await scratch.remove();
      }
    },
    60_000,
  );
}

/** The tables of the first relays: ops without `extra`, claims, no presence. */
const OLD = `
  CREATE TABLE stream_ops (
    stream_id TEXT NOT NULL, seq BIGINT NOT NULL, envelope_version INTEGER NOT NULL, op_id TEXT NOT NULL,
    lamport BIGINT NOT NULL, site BIGINT NOT NULL, domain TEXT NOT NULL DEFAULT 'task', target_kind TEXT NOT NULL,
    target_id TEXT NOT NULL, field TEXT NOT NULL, op_type TEXT NOT NULL, value TEXT, author TEXT NOT NULL,
    wall_clock TEXT NOT NULL, PRIMARY KEY (stream_id, seq), UNIQUE (stream_id, op_id));
  CREATE TABLE prefix_claims (
    stream_id TEXT NOT NULL, prefix TEXT NOT NULL, replica_uuid TEXT NOT NULL,
    PRIMARY KEY (stream_id, prefix), UNIQUE (stream_id, replica_uuid));
  INSERT INTO stream_ops VALUES
    ('s', 1, 1, 'old', 7, 42, 'task', 'item', 'ab12.7x3k', 'title', 'set', 'hello', 'alice', '2026-10-12T08:15:00Z'),
    ('B', 1, 1, 'old', 7, 42, 'task', 'item', 'ab12.7x3k', 'title', 'set', 'hello', 'alice', '2026-10-12T08:15:00Z');
  INSERT INTO prefix_claims VALUES ('s', 'aaaa', 'uuid-A');`;

async function inside(scratch: Scratch, sql: string): Promise<string[]> {
  const { rows } = await (await scratch.client()).query({ text: sql, rowMode: 'array' });
  return rows.map((cells: unknown[]) => cells.join(' '));
}

const COLUMNS = `
  SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
  WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position`;

describe('opening a database', () => {
  scratchTest('OPS-5: a new schema gets exactly the tables of the protocol, and three of our own', async (scratch) => {
    await scratch.open();
    expect(await inside(scratch, COLUMNS)).toEqual([
      'machine_presence stream_id text NO ',
      'machine_presence machine_id text NO ',
      'machine_presence name text NO ',
      'machine_presence last_seen bigint NO ',
      'machine_presence interval_secs bigint NO ',
      'op_store_format format integer NO ',
      'prefix_claims stream_id text NO ',
      'prefix_claims prefix text NO ',
      'prefix_claims replica_uuid text NO ',
      'stream_changes stream_id text NO ',
      'stream_changes changed_in xid8 NO ',
      'stream_erasures stream_id text NO ',
      'stream_erasures head bigint NO ',
      'stream_erasures erased_at bigint NO ',
      'stream_ops stream_id text NO ',
      'stream_ops seq bigint NO ',
      'stream_ops envelope_version integer NO ',
      'stream_ops op_id text NO ',
      'stream_ops lamport bigint NO ',
      'stream_ops site bigint NO ',
      "stream_ops domain text NO 'task'::text",
      'stream_ops target_kind text NO ',
      'stream_ops target_id text NO ',
      'stream_ops field text NO ',
      'stream_ops op_type text NO ',
      'stream_ops value text YES ',
      'stream_ops author text NO ',
      'stream_ops wall_clock text NO ',
      "stream_ops extra text NO '{}'::text",
    ]);
    const keys = await inside(
      scratch,
      `SELECT tablename, regexp_replace(indexdef, '.*btree ', '') FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1, 2`,
    );
    expect(keys).toEqual([
      'machine_presence (stream_id, last_seen)',
      'machine_presence (stream_id, machine_id)',
      'prefix_claims (stream_id, prefix)',
      'prefix_claims (stream_id, replica_uuid)',
      'stream_changes (changed_in, stream_id)',
      'stream_changes (stream_id)',
      'stream_erasures (stream_id)',
      'stream_ops (stream_id, op_id)',
      'stream_ops (stream_id, seq)',
    ]);
  });

  scratchTest(
    'OPS-5: an older database gains what it lacks, keeps ops and claims, and opens again unchanged',
    async (scratch) => {
      await (await scratch.client()).query(OLD);
      const { opStore, prefixRegistry, presenceBoard } = await scratch.open();
      expect((await opStore.read('s', 0n, 10)).ops).toEqual([{ seq: 1n, op: anOp({ opId: 'old' }) }]);
      expect(await opStore.streams(null, 10)).toEqual([
        { stream: 'B', head: 1n },
        { stream: 's', head: 1n },
      ]);
      expect(await opStore.append('s', [anOp({ opId: 'old' }), anOp({ opId: 'new' })])).toMatchObject([
        { kind: 'existing' },
        { kind: 'stored', seq: 2n },
      ]);
      expect(await prefixRegistry.register('s', 'bbbb', 'uuid-A')).toEqual({
        outcome: 'reassigned',
        newPrefix: 'aaaa',
      });
      await presenceBoard.announce('s', { machineId: 'm', name: 'mini', intervalSecs: 300n }, 100n, 0n);
      const objects = `SELECT relname, oid, relfilenode FROM pg_class WHERE relnamespace = current_schema()::regnamespace ORDER BY 1`;
      const before = await inside(scratch, objects);
      const again = await scratch.open();
      expect((await again.presenceBoard.machines('s', 0n, 10)).machines).toHaveLength(1);
      expect(await inside(scratch, objects)).toEqual(before);
    },
  );

  scratchTest('OPS-5, RLY-18: eight that open an old database at once all succeed', async (scratch) => {
    await (await scratch.client()).query(OLD);
    const stores = await Promise.all(Array.from({ length: 8 }, () => scratch.open({ poolMax: 1 })));
    for (const { opStore } of stores) expect((await opStore.read('s', 0n, 10)).ops).toHaveLength(1);
  });

  scratchTest(
    'RLY-18: ops of a writer of another make, and of one that never heard of changes, are found',
    async (scratch) => {
      await (await scratch.client()).query(OLD);
      const { opStore } = await scratch.open();
      const position = await opStore.position();
      const other = await scratch.client();
      await other.query(`
      INSERT INTO stream_ops (stream_id, seq, envelope_version, op_id, lamport, site, target_kind, target_id, field, op_type, author, wall_clock)
      VALUES ('theirs', 1, 1, 'o', 1, 1, '', '', '', '', '', '')`);
      expect((await opStore.changes(position, 10)).changed).toEqual([{ stream: 'theirs', head: 1n }]);
    },
  );

  scratchTest('OPS-5: a newer format is refused in one line, and left as it is', async (scratch) => {
    const { close } = await scratch.open();
    await close();
    await inside(scratch, 'UPDATE op_store_format SET format = 2');
    await expect(scratch.open()).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringMatching(/^Postgres .* has format 2, and this build reads up to 1: start a newer build$/),
    });
    expect(await inside(scratch, 'SELECT format FROM op_store_format')).toEqual(['2']);
  });

  scratchTest(
    'OPS-2: a role that may create nothing opens a database that is ready, and is told when it is not',
    async (scratch) => {
      const role = `${scratch.name}_reader`;
      const admin = await scratch.client();
      const url = new URL(scratch.url);
      url.username = role;
      await admin.query(`CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA ${scratch.name} TO ${role}`);
      try {
        await expect(scratch.open({ url: url.href })).rejects.toMatchObject({ code: 'misconfigured' });
        await scratch.open();
        await admin.query(`GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA ${scratch.name} TO ${role};
        REVOKE ALL ON stream_changes FROM ${role}; GRANT SELECT ON stream_changes TO ${role}`);
        const { opStore, close } = await scratch.open({ url: url.href });
        expect(await opStore.append('s', [anOp()])).toEqual([{ kind: 'stored', seq: 1n }]);
        await close();
      } finally {
        await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      }
    },
  );
});
