import type { Statement } from '@tidemark/libs-driver-postgres';
import { Fault } from '@tidemark/libs-kernel';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { anOp, MemoryOpStore, readAll, someOps } from '@tidemark/libs-op-store-contract/testing';
import { type PresentService, serverTests } from '@tidemark/tools-services/testing';
import type pg from 'pg';
import { storeOneStatement, storeStatement } from './append.ts';
import { plant } from './plant.ts';
import { ABOVE, read } from './read.ts';
import { plans, Scratch } from './scratch.ts';
import { HEAD } from './streams.ts';

const postgresTest = serverTests('postgres');

function scratchTest(title: string, run: (scratch: Scratch, service: PresentService) => Promise<void>): void {
  postgresTest(
    title,
    async (service) => {
      const scratch = await new Scratch(service.endpoint).make();
      try {
        await run(scratch, service);
      } finally {
        await scratch.remove();
      }
    },
    60_000,
  );
}

const LOCK = 'SELECT pg_advisory_xact_lock($1, hashtext($2))';

/** Appends as a relay of another make does: under the lock, one op at a time. */
async function foreignAppend(client: pg.Client, stream: string, opId: string): Promise<void> {
  await client.query(LOCK, [1, stream]);
  await client.query(
    `INSERT INTO stream_ops (stream_id, seq, envelope_version, op_id, lamport, site, target_kind, target_id, field, op_type, author, wall_clock)
     SELECT $1, coalesce(max(seq), 0) + 1, 1, $2, 7, 42, 'item', 'i', 'title', 'set', 'bob', '' FROM stream_ops WHERE stream_id = $1`,
    [stream, opId],
  );
}

/** Resolves once as many backends wait for an advisory lock in this server. */
async function untilWaiting(client: pg.Client, many: number): Promise<void> {
  const waiting = `SELECT count(*)::integer AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
  while ((await client.query(waiting)).rows[0].n < many);
}

describe('the op store in Postgres', () => {
  scratchTest('R1: a writer that holds its place is not overtaken, and a reader misses nothing', async (scratch) => {
    const { opStore } = await scratch.open();
    const [slow, look] = [await scratch.client(), await scratch.client()];
    await opStore.append('s', someOps(1));
    await slow.query('BEGIN');
    await foreignAppend(slow, 's', 'slow');
    const fast = opStore.append('s', [anOp({ opId: 'fast' })]);
    await untilWaiting(look, 1);
    expect((await opStore.read('s', 1n, 10)).ops).toEqual([]);
    await slow.query('COMMIT');
    expect(await fast).toEqual([{ kind: 'stored', seq: 3n }]);
    const page = await opStore.read('s', 1n, 10);
    expect(page.ops.map(({ op }) => op.opId)).toEqual(['slow', 'fast']);
  });

  scratchTest(
    'RLY-18: the lock is the one of the protocol: class 1 for ops, 2 for prefixes, of one stream',
    async (scratch) => {
      const { opStore, prefixRegistry } = await scratch.open();
      const [holder, look] = [await scratch.client(), await scratch.client()];
      await holder.query('BEGIN');
      await holder.query(LOCK, [1, 's']);
      expect(await prefixRegistry.register('s', 'aaaa', 'uuid-A')).toEqual({ outcome: 'registered' });
      expect(await opStore.append('other', someOps(1))).toHaveLength(1);
      const appended = opStore.append('s', someOps(1));
      await untilWaiting(look, 1);
      await holder.query('COMMIT; BEGIN');
      await appended;
      await holder.query(LOCK, [2, 's']);
      expect(await opStore.append('s', someOps(2))).toHaveLength(2);
      const registered = prefixRegistry.register('s', 'bbbb', 'uuid-B');
      await untilWaiting(look, 1);
      await holder.query('COMMIT');
      expect(await registered).toEqual({ outcome: 'registered' });
    },
  );

  scratchTest('S1, S2, S4: no lock outlives its transaction, and so none the process', async (scratch) => {
    const { opStore, prefixRegistry } = await scratch.open();
    await opStore.append('s', someOps(1));
    await prefixRegistry.register('s', 'aaaa', 'uuid-A');
    const look = await scratch.client();
    expect((await look.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`)).rows).toEqual([]);
  });

  scratchTest('S7: an append gives up for certain when the stream is held too long', async (scratch) => {
    const { opStore } = await scratch.open({ lockTimeoutMs: 50 });
    const holder = await scratch.client();
    await holder.query('BEGIN');
    await holder.query(LOCK, [1, 's']);
    await expect(opStore.append('s', someOps(1))).rejects.toMatchObject({ code: 'unavailable', outcome: 'not-done' });
    await holder.query('COMMIT');
    expect(await opStore.append('s', someOps(1))).toEqual([{ kind: 'stored', seq: 1n }]);
  });

  scratchTest('S5: changes of a stream are told once while a transaction idles for long', async (scratch) => {
    const { opStore } = await scratch.open();
    const idle = await scratch.client();
    await idle.query('BEGIN');
    await idle.query('SELECT pg_current_xact_id()');
    const start = await opStore.position();
    await opStore.append('a', someOps(1));
    const first = await opStore.changes(start, 10);
    expect(first.changed).toEqual([{ stream: 'a', head: 1n }]);
    await opStore.append('b', someOps(1));
    expect((await opStore.changes(first.position, 10)).changed).toEqual([{ stream: 'b', head: 1n }]);
  });

  scratchTest('R1, R5: an append that began before a position and commits after it is told', async (scratch) => {
    const { opStore } = await scratch.open();
    const slow = await scratch.client();
    await slow.query('BEGIN');
    await foreignAppend(slow, 'slow', 'o1');
    await opStore.append('fast', someOps(1));
    const position = await opStore.position();
    expect((await opStore.changes(position, 10)).changed).toEqual([]);
    await slow.query('COMMIT');
    expect((await opStore.changes(position, 10)).changed).toEqual([{ stream: 'slow', head: 1n }]);
  });

  scratchTest(
    'FLD-1: a dump brought into a server with fewer transactions tells no stream for ever',
    async (scratch) => {
      const { opStore } = await scratch.open();
      await opStore.append('s', someOps(1));
      const position = await opStore.position();
      await (await scratch.client()).query(`UPDATE stream_changes SET changed_in = '9000000000000000000'`);
      expect(await opStore.changes(position, 10)).toEqual({ changed: [], position });
      expect(await opStore.streams(null, 10)).toEqual([{ stream: 's', head: 1n }]);
      await opStore.append('s', someOps(2));
      expect((await opStore.changes(position, 10)).changed).toEqual([{ stream: 's', head: 2n }]);
    },
  );

  scratchTest('RLY-6: an append waits for the disk although the server does not by default', async (scratch) => {
    const { opStore } = await scratch.open({ url: withOption(scratch.url, 'synchronous_commit=off') });
    const look = await scratch.client();
    await look.query(`
      CREATE TABLE seen (setting text);
      CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO seen SELECT current_setting('synchronous_commit'); RETURN NULL; END $$;
      CREATE TRIGGER see AFTER INSERT ON stream_ops FOR EACH STATEMENT EXECUTE FUNCTION see()`);
    await opStore.append('s', someOps(1));
    expect((await look.query('SELECT setting FROM seen')).rows).toEqual([{ setting: 'on' }]);
  });

  scratchTest(
    'RLY-4: an append sees what was committed while it waited, however the database isolates',
    async (scratch) => {
      const { opStore } = await scratch.open({
        url: withOption(scratch.url, 'default_transaction_isolation=serializable'),
      });
      const [holder, look] = [await scratch.client(), await scratch.client()];
      await holder.query('BEGIN');
      await foreignAppend(holder, 's', 'first');
      const appended = opStore.append('s', someOps(1));
      await untilWaiting(look, 1);
      await holder.query('COMMIT');
      expect(await appended).toEqual([{ kind: 'stored', seq: 2n }]);
    },
  );

  scratchTest('OPS-6: a database that is set to be read-only takes no append for certain', async (scratch) => {
    await scratch.open();
    const { opStore } = await scratch.open({ url: withOption(scratch.url, 'default_transaction_read_only=on') });
    await expect(opStore.append('s', someOps(1))).rejects.toMatchObject({ code: 'unavailable', outcome: 'not-done' });
    expect(await opStore.head('s')).toBe(0n);
  });

  scratchTest('R13: an append that fails stores nothing of its call and burns no seq', async (scratch) => {
    const { opStore } = await scratch.open();
    await opStore.append('s', someOps(2));
    const look = await scratch.client();
    await look.query(`ALTER TABLE stream_ops ADD CONSTRAINT refuse CHECK (op_id <> 'bad')`);
    await expect(opStore.append('s', [anOp({ opId: 'good' }), anOp({ opId: 'bad' })])).rejects.toBeInstanceOf(Fault);
    expect(await opStore.append('s', [anOp({ opId: 'good' })])).toEqual([{ kind: 'stored', seq: 3n }]);
  });

  scratchTest('RLY-12: U+0000 is refused by name wherever it stands, and an escaped one is kept', async (scratch) => {
    const { opStore, prefixRegistry, presenceBoard } = await scratch.open();
    expect(opStore.refusal(anOp())).toBeNull();
    expect(opStore.refusal(anOp({ opId: 'x', value: 'a\0' }))).toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(/"x".*value/),
    });
    expect(opStore.refusal(anOp({ opId: '\0' }))).toMatchObject({ code: 'invalid' });
    expect(opStore.refusal(anOp({ opId: 'é'.repeat(1001) }))).toMatchObject({ code: 'too_large' });
    expect(opStore.refusal(anOp({ opId: 'é'.repeat(1000) }))).toBeNull();
    const escaped = anOp({ extra: '{"sig":"\\u0000"}' });
    expect(opStore.refusal(escaped)).toBeNull();
    await opStore.append('s', [escaped]);
    expect((await opStore.read('s', 0n, 1)).ops).toEqual([{ seq: 1n, op: escaped }]);

    const invalid = { code: 'invalid', outcome: 'not-done' };
    await expect(opStore.append('s', [anOp({ opId: 'given anyway', author: '\0' })])).rejects.toMatchObject(invalid);
    const malformed = { code: 'malformed', outcome: 'not-done' };
    await expect(opStore.append('a\0', someOps(1))).rejects.toMatchObject(malformed);
    await expect(prefixRegistry.register('a\0', 'p', 'u')).rejects.toMatchObject(malformed);
    await expect(prefixRegistry.register('s', 'p', 'u\0')).rejects.toMatchObject(invalid);
    await expect(
      presenceBoard.announce('a\0', { machineId: 'm', name: 'n', intervalSecs: 1n }, 1n, 0n),
    ).rejects.toMatchObject(malformed);
  });

  scratchTest('RLY-1: a stream whose id holds U+0000 is empty', async (scratch) => {
    const { opStore, presenceBoard } = await scratch.open();
    await opStore.append('a', someOps(1));
    await opStore.append('b', someOps(1));
    expect(await opStore.read('a\0', 0n, 10)).toEqual({ ops: [], next: 0n });
    expect(await opStore.head('a\0')).toBe(0n);
    expect(await opStore.describe('a\0')).toEqual({ head: 0n, burned: 0n });
    expect(await opStore.erase('a\0')).toBe(0n);
    expect(await presenceBoard.machines('a\0', 0n, 1)).toEqual({ machines: [], truncated: false });
    expect((await opStore.streams('a\0b', 10)).map(({ stream }) => stream)).toEqual(['b']);
  });

  scratchTest(
    'RLY-12: a stream id over its bound is refused by name before anything is sent, and is empty',
    async (scratch) => {
      const { opStore, prefixRegistry, presenceBoard } = await scratch.open();
      const long = 'é'.repeat(326);
      const machine = { machineId: 'm', name: 'n', intervalSecs: 1n };
      const malformed = {
        code: 'malformed',
        outcome: 'not-done',
        message: expect.stringContaining('longer than 650 bytes'),
      };
      await expect(opStore.append(long, someOps(1))).rejects.toMatchObject(malformed);
      await expect(prefixRegistry.register(long, 'p', 'u')).rejects.toMatchObject(malformed);
      await expect(presenceBoard.announce(long, machine, 1n, 0n)).rejects.toMatchObject(malformed);
      expect(await opStore.read(long, 0n, 10)).toEqual({ ops: [], next: 0n });
      expect(await opStore.head(long)).toBe(0n);
      expect(await opStore.streams(null, 10)).toEqual([]);
    },
  );

  scratchTest('RLY-12: the longest stream id and the longest op id fit an index together', async (scratch) => {
    const { opStore, prefixRegistry } = await scratch.open();
    // Nothing that could be compressed.
    const text = Buffer.from(new SeededRandom(1).bytes(2000)).toString('base64');
    const [stream, op] = [text.slice(0, 650), anOp({ opId: text.slice(0, 2000) })];
    expect(opStore.refusal(op)).toBeNull();
    expect(await opStore.append(stream, [op])).toEqual([{ kind: 'stored', seq: 1n }]);
    expect(await opStore.append(stream, [op])).toEqual([{ kind: 'existing', seq: 1n }]);
    expect(await prefixRegistry.register(stream, 'aaaa', 'uuid-A')).toEqual({ outcome: 'registered' });
  });

  scratchTest('OPS-6: a stream whose last seq is taken takes no op for certain', async (scratch) => {
    const { opStore } = await scratch.open();
    await plant(scratch, 's', 2n ** 63n - 1n, anOp({ opId: 'last' }));
    await expect(opStore.append('s', someOps(1))).rejects.toMatchObject({ code: 'unavailable', outcome: 'not-done' });
    expect(await opStore.append('s', [anOp({ opId: 'last' })])).toEqual([{ kind: 'existing', seq: 2n ** 63n - 1n }]);
  });

  scratchTest('RLY-1: a page of large ops leaves what lies behind its end in the server', async (scratch) => {
    const { opStore } = await scratch.open();
    const ops = someOps(30).map((op) => ({ ...op, value: 'v'.repeat(200_000) }));
    await opStore.append('s', ops);
    const sent = await (await scratch.client()).query(ABOVE, ['s', 0, 10_000, 1_000_000]);
    expect(sent.rowCount).toBe(4);
    expect(await opStore.read('s', 0n, 10_000, 1_000_000)).toMatchObject({ next: 4n });
    expect((await readAll(opStore, 's', 10_000)).map(({ op }) => op.opId)).toEqual(ops.map(({ opId }) => opId));
  });

  scratchTest('RLY-3, RLY-4, RLY-5: calls are answered as the memory model answers them', async (scratch) => {
    const { opStore } = await scratch.open();
    const model = new MemoryOpStore();
    for (let i = 0; i < 60; i++) {
      const stream = ['a', 'é/\u{10000}', 'é/\uffee'][i % 3] as string;
      const ops = Array.from({ length: (i * 7) % 6 }, (_, k) =>
        anOp({ opId: String((i * 5 + k * 3) % 23), value: k % 2 === 0 ? null : 'é'.repeat((i * 131) % 900) }),
      );
      expect(await opStore.append(stream, ops)).toEqual(await model.append(stream, ops));
      const [after, limit, bytesMax] = [BigInt((i % 12) - 2), i % 9, (i * 401) % 5000];
      expect(await opStore.read(stream, after, limit, bytesMax)).toEqual(
        await model.read(stream, after, limit, bytesMax),
      );
      if (i % 17 === 16) expect(await opStore.erase(stream)).toBe(await model.erase(stream));
      expect(await opStore.describe(stream)).toEqual(await model.describe(stream));
      expect(await opStore.streams(i % 2 === 0 ? null : stream, 2)).toEqual(
        await model.streams(i % 2 === 0 ? null : stream, 2),
      );
    }
  });

  scratchTest('RLY-19: whatever is asked is found by an index', async (scratch) => {
    const { opStore } = await scratch.open();
    for (const stream of ['a', 'b']) for (let i = 0; i < 3; i++) await opStore.append(stream, someOps(1000, `op-${i}`));
    for (const plan of await plans(await scratch.client())) expect(plan).not.toMatch(/Seq Scan|Sort/);
  });

  scratchTest(
    'RLY-5: an append reads no more of a stream than its own ops, however little is known of it',
    async (scratch) => {
      const { opStore } = await scratch.open();
      for (let i = 0; i < 10; i++) await opStore.append('a', someOps(1000, `op-${i}`));
      const client = await scratch.client();
      const many = await planOf(client, storeStatement('a', someOps(50, 'new')));
      expect(many).toMatch(/Index Scan using stream_ops_op_id/);
      const one = await planOf(client, storeOneStatement('a', anOp()));
      expect(one).toMatch(/Conflict Arbiter Indexes: stream_ops_op_id/);
      for (const plan of [many, one]) {
        expect(plan).toMatch(/Limit.*\n *-> +Index Only Scan Backward using "PK_/);
        expect(plan).not.toMatch(/Hash Join|Merge Join|(Bitmap Heap|Seq) Scan on stream_ops/);
      }
    },
  );

  // kills: streams.ts: SELECT seq FROM stream_ops WHERE stream_id = ${id} ORDER BY seq DESC LIMIT 1 => SELECT max(seq) FROM stream_ops WHERE stream_id = ${id}
  scratchTest(
    'RLY-5, RLY-19: a head and an op are found by their index where the server takes every stream for a short one',
    async (scratch) => {
      const { opStore } = await scratch.open();
      const client = await scratch.client();
      for (const stream of ['a', 'b']) await opStore.append(stream, someOps(1));
      await client.query(
        "INSERT INTO stream_ops SELECT (jsonb_populate_record(ops, jsonb_build_object('stream_id', n))).* FROM stream_ops ops, generate_series(1, 5000) n WHERE stream_id = 'a'",
      );
      await client.query('ANALYZE stream_ops');
      await opStore.append('a', someOps(5000, 'more'));
      const head = await planOf(client, { text: `SELECT ${HEAD('$1')}`, values: ['a'] });
      expect(head).toMatch(/Limit.*\n *-> +Index Only Scan Backward using "PK_/);
      const many = await planOf(client, storeStatement('a', someOps(50, 'new')));
      expect(many).toMatch(/Index Scan using stream_ops_op_id.*\n *Index Cond: .*op_id = given/);
    },
  );

  scratchTest('RLY-14: a watch that lost its connection hears again, and of what it missed', async (scratch) => {
    const { opStore } = await scratch.open();
    const { opStore: writer } = await scratch.open();
    const admin = await scratch.client();
    const heard = new Set<string>();
    const watch = await opStore.watch((stream) => heard.add(stream));
    const listeners = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`;
    while ((await admin.query(listeners)).rowCount !== 1);
    while (scratch.time.sleepers === 0) await writer.ping();
    await writer.append('missed', someOps(1));
    expect(heard.has('missed')).toBe(false);
    scratch.time.advance(10_000);
    while (!heard.has('missed')) await writer.ping();
    await writer.append('later', someOps(1));
    while (!heard.has('later')) await writer.ping();
    await watch?.close();
  });

  scratchTest('RLY-14: a watch that cannot listen leaves no connection, and one stays in the end', async (scratch) => {
    const { opStore } = await scratch.open({ url: withOption(scratch.url, `search_path=${scratch.name},pg_catalog`) });
    const { opStore: writer } = await scratch.open();
    const admin = await scratch.client();
    const heard = new Set<string>();
    const listening = `FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`;
    const untilListening = async (many: number): Promise<void> => {
      while ((await admin.query(`SELECT ${listening}`)).rowCount !== many);
    };
    const untilAsleep = async (): Promise<void> => {
      while (scratch.time.sleepers === 0) await writer.ping();
    };
    const watch = await opStore.watch((stream) => heard.add(stream));
    await admin.query(`CREATE FUNCTION pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT 1 / 0'`);
    await expect(opStore.watch(() => {})).rejects.toBeInstanceOf(Fault);
    await untilListening(1);
    await admin.query(`SELECT pg_terminate_backend(pid) ${listening}`);
    for (let attempt = 0; attempt < 3; attempt++) {
      await untilAsleep();
      scratch.time.advance(10_000);
    }
    await untilAsleep();
    await untilListening(0);
    await admin.query(`DROP FUNCTION ${scratch.name}.pg_notify`);
    scratch.time.advance(10_000);
    await writer.append('later', someOps(1));
    while (!heard.has('later')) await writer.ping();
    await untilListening(1);
    await watch?.close();
  });

  scratchTest('OPS-4: a call that waits too long for a connection is refused for certain', async (scratch) => {
    const { opStore } = await scratch.open({ poolMax: 1, acquireTimeoutMs: 1000 });
    const holder = await scratch.client();
    await holder.query('BEGIN');
    await holder.query(LOCK, [1, 's']);
    const held = opStore.append('s', someOps(1));
    await untilWaiting(holder, 1);
    await expect(opStore.append('t', someOps(1))).rejects.toMatchObject({ code: 'unavailable', outcome: 'not-done' });
    await holder.query('COMMIT');
    expect(await held).toEqual([{ kind: 'stored', seq: 1n }]);
  });

  scratchTest('R4: a page is one statement, so no commit comes between its parts', async (scratch) => {
    const { opStore } = await scratch.open();
    await opStore.append('s', someOps(3));
    const connection = await scratch.connection();
    const statements = jest.spyOn(connection, 'read');
    expect(await read(connection, 's', 0n, 2, 1_000_000)).toMatchObject({ next: 2n });
    expect(statements).toHaveBeenCalledTimes(1);
  });

  scratchTest('R40: one connection serves calls that overlap, each by itself', async (scratch) => {
    const connection = await scratch.connection();
    const bad = connection.write([{ text: 'SELECT 1 / 0', values: [] }]);
    const good = connection.write<[number]>([{ text: 'SELECT 1', values: [] }]);
    await expect(bad).rejects.toMatchObject({ code: 'internal' });
    expect(await good).toEqual([[[1]]]);
  });
});

async function planOf(client: pg.Client, { text, values }: Statement): Promise<string> {
  const { rows } = await client.query(`EXPLAIN ${text}`, [...values]);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

function withOption(text: string, option: string): string {
  const url = new URL(text);
  url.searchParams.set('options', `${url.searchParams.get('options')} -c ${option}`);
  return url.href;
}
