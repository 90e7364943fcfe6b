import { NOTHING_FOLDED } from '@tidemark/libs-views-contract';
import { serverTests } from '@tidemark/tools-services/testing';
import { Scratch } from './scratch.ts';
import { STREAM, bodyOf, change } from './spec-changes.ts';

const postgresTest = serverTests('postgres');

function scratchTest(title: string, run: (scratch: Scratch) => Promise<void>): void {
  postgresTest(
    title,
    async ({ endpoint }) => {
      const scratch = await Scratch.make(endpoint);
      try {
        await run(scratch);
      } finally {
        await scratch.remove();
      }
    },
    60_000,
  );
}

const TABLES = `
  SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY relname`;
const INDEXES = `
  SELECT pg_get_expr(indpred, indrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE relnamespace = current_schema()::regnamespace AND relname LIKE 'view_cells_by_%' ORDER BY 1`;
const INDEXED = `SELECT id, value, indexed FROM view_cells ORDER BY id`;
const only = (field: string) => `((kind = 'task'::text) AND (field = '${field}'::text) AND (indexed IS NOT NULL))`;
const [DUE, OWNER] = [
  { kind: 'task', field: 'due' },
  { kind: 'task', field: "owner's" },
];

describe('opening a database', () => {
  scratchTest('OPS-5: makes its tables beside others, once, and keeps what is there', async (scratch) => {
    await (await scratch.client()).query('CREATE TABLE stream_ops (seq bigint)');
    const views = await scratch.open();
    await views.apply(STREAM, 1, [change('a', 1)]);
    await views.saveMark(STREAM, 1, NOTHING_FOLDED, 0, new Map());
    expect(await bodyOf(await scratch.open(), 'a')).toBe('1');
    expect(await scratch.look(TABLES)).toEqual([
      'stream_ops',
      'view_cells',
      'view_format',
      'view_indexes',
      'view_marks',
      'view_parked',
    ]);
  });

  scratchTest('FLD-5: eight that open a new database at once all succeed, with their indexes', async (scratch) => {
    const all = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(() => scratch.open({ poolMax: 1, indexes: [DUE] })));
    for (const [at, views] of all.entries()) await views.apply(STREAM, 1, [change(String(at), 1)]);
    expect(await scratch.look(INDEXES)).toEqual([only('due')]);
  });

  scratchTest('OPS-5: a newer format is refused in one line, and left as it is', async (scratch) => {
    await (await scratch.open()).close();
    await scratch.look('UPDATE view_format SET format = 2');
    await expect(scratch.open()).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringMatching(
        /^Postgres .* has views of format 2, and this build reads up to 1: start a newer build$/,
      ),
    });
    expect(await scratch.look('SELECT format FROM view_format')).toEqual(['2']);
  });

  scratchTest('OPS-2: a role that may create nothing opens a database that is ready, and no other', async (scratch) => {
    const role = `${scratch.name}_worker`;
    const admin = await scratch.client();
    const url = new URL(scratch.url);
    url.username = role;
    await admin.query(`CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA ${scratch.name} TO ${role}`);
    try {
      await expect(scratch.open({ url: url.href })).rejects.toMatchObject({ code: 'misconfigured' });
      await scratch.open({ indexes: [DUE] });
      await admin.query(`
        GRANT SELECT, INSERT, UPDATE, DELETE ON view_cells, view_marks, view_parked TO ${role};
        GRANT SELECT ON view_format, view_indexes TO ${role}`);
      const views = await scratch.open({ url: url.href, indexes: [DUE] });
      await views.apply(STREAM, 1, [change('a', 1, { kind: 'task', field: 'due' })]);
      expect(await scratch.look(INDEXED)).toEqual(['a 1 1']);
      await expect(scratch.open({ url: url.href })).rejects.toMatchObject({ code: 'misconfigured' });
    } finally {
      await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  scratchTest('OPS-2: a URL that leads nowhere is told at once', async (scratch) => {
    const url = new URL(scratch.url);
    url.pathname = '/no_such_database';
    await expect(scratch.open({ url: url.href })).rejects.toMatchObject({ code: 'misconfigured' });
  });
});

describe('fields that are declared as indexed', () => {
  scratchTest('FLD-8: stand as jsonb beside their text, and others do not', async (scratch) => {
    const views = await scratch.open({ indexes: [DUE, OWNER] });
    expect(await scratch.look(INDEXES)).toEqual([only('due'), only("owner''s")]);
    const values = [
      ' "2026-12-01" ',
      '17.50',
      'null',
      '"\\u0000"',
      '"\\ud800"',
      '1e999999',
      '[1]',
      ` {"a":1}`,
      `"${'x'.repeat(2000)}"`,
    ];
    await views.apply(
      STREAM,
      1,
      values.map((value, at) => change(`${at}`, 1, { kind: 'task', field: 'due', value })),
    );
    await views.apply(STREAM, 1, [change('other', 1, { kind: 'task', field: 'title', value: '1' })]);
    expect((await scratch.look(INDEXED)).map((row) => row.slice(0, 40))).toEqual([
      '0  "2026-12-01"  2026-12-01',
      '1 17.50 17.5',
      '2 null ',
      '3 "\\u0000" ',
      '4 "\\ud800" ',
      '5 1e999999 ',
      '6 [1] ',
      '7  {"a":1} ',
      `8 "${'x'.repeat(37)}`,
      'other 1 ',
    ]);
    await views.saveMark(STREAM, 1, NOTHING_FOLDED, 0, new Map());
    const document = await views.document(STREAM, 'task', '1');
    expect(document?.fields.get('due')?.members.get('')?.value).toBe('17.50');
    await views.apply(STREAM, 1, [change('1', 2, { kind: 'task', field: 'due', value: '18' })]);
    await views.apply(STREAM, 1, [{ ...change('0', 1, { kind: 'task', field: 'due' }), effect: 'remove', seq: 9n }]);
    expect((await scratch.look(INDEXED)).slice(0, 2)).toEqual(['0  ', '1 18 18']);
  });

  scratchTest('FLD-8: are filled when they are declared later, whoever wrote or writes them', async (scratch) => {
    const older = await scratch.open();
    await older.apply(STREAM, 1, [change('before', 1, { kind: 'task', field: 'due' })]);
    await scratch.open({ indexes: [DUE] });
    await older.apply(STREAM, 1, [change('after', 2, { kind: 'task', field: 'due' })]);
    expect(await scratch.look(INDEXED)).toEqual(['after 2 2', 'before 1 1']);
    await scratch.open({ indexes: [OWNER] });
    expect(await scratch.look(INDEXES)).toEqual([only("owner''s")]);
    await scratch.open();
    expect(await scratch.look(INDEXES)).toEqual([]);
  });
});
