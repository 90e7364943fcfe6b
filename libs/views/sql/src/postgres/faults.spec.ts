import { mapError } from '@tidemark/libs-driver-postgres';
import { Proxy } from '@tidemark/libs-driver-postgres/testing';
import { NOTHING_FOLDED } from '@tidemark/libs-views-contract';
import { serverTests } from '@tidemark/tools-services/testing';
import { connectPostgresViews } from './connect.ts';
import { Scratch } from './scratch.ts';
import { STREAM, bodyOf, change } from './spec-changes.ts';
import { VIEWS } from './use.ts';

const postgresTest = serverTests('postgres');

const UNAVAILABLE = { code: 'unavailable', outcome: 'not-done' };
const NONE = new Map<string, number>();

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

scratchTest('FLD-9: a call whose last change cannot be stored stores none of them', async (scratch) => {
  const views = await scratch.open();
  await views.saveMark(STREAM, 1, NOTHING_FOLDED, 0, NONE);
  const tooMuch = change('b', 1, { version: { rank: 0n, lamport: 2n ** 63n, site: 0n, seq: 1n } });
  await expect(views.apply(STREAM, 1, [change('a', 1), tooMuch])).rejects.toThrow();
  expect(await bodyOf(views, 'a')).toBeUndefined();
});

// kills: storable.ts: if (bytes > NAMES_BYTES_MAX) => if (bytes > 10 * NAMES_BYTES_MAX)
scratchTest('FLD-6: names that no index takes are too large, and name the document', async (scratch) => {
  const views = await scratch.open();
  const letters = Array.from({ length: 2600 }, (_, at) => String.fromCharCode(97 + ((at * at) % 26))).join('');
  await expect(views.apply(STREAM, 1, [change('a', 1), change(letters, 1)])).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringMatching(
      /^document "events" "abe.*", field "body": its names and its stream's take more than/,
    ),
  });
  await views.apply(STREAM, 1, [change(letters.slice(0, 2580), 1)]);
  await expect(views.saveMark('s'.repeat(1001), 1, NOTHING_FOLDED, 0, NONE)).rejects.toMatchObject({ code: 'invalid' });
});

scratchTest('FLD-9: a write whose answer is lost may be stored, and may be repeated', async (scratch) => {
  const direct = await scratch.open();
  await direct.saveMark(STREAM, 1, NOTHING_FOLDED, 0, NONE);
  const proxy = await Proxy.before(scratch.url);
  const views = await scratch.open({ url: proxy.url, poolMax: 1 });
  await views.mark(STREAM);
  proxy.isDeaf = true;
  const lost = expect(views.apply(STREAM, 1, [change('a', 1)])).rejects.toMatchObject({ code: 'unknown_outcome' });
  while ((await bodyOf(direct, 'a')) === undefined);
  proxy.drop();
  await lost;
  proxy.isDeaf = false;
  await views.apply(STREAM, 1, [change('a', 1)]).catch(() => views.apply(STREAM, 1, [change('a', 1)]));
  expect(await bodyOf(direct, 'a')).toBe('1');
  await proxy.close();
});

scratchTest('OPS-6: a write that waits for another too long is unavailable, and not done', async (scratch) => {
  const views = await scratch.open({ lockTimeoutMs: 200 });
  await views.saveMark(STREAM, 1, NOTHING_FOLDED, 0, NONE);
  await views.apply(STREAM, 1, [change('a', 1)]);
  const holder = await scratch.client();
  await holder.query(`BEGIN; UPDATE view_cells SET value = value; UPDATE view_marks SET version = version`);
  await expect(views.apply(STREAM, 1, [change('a', 2)])).rejects.toMatchObject(UNAVAILABLE);
  await expect(views.saveMark(STREAM, 1, NOTHING_FOLDED, 1, NONE)).rejects.toMatchObject(UNAVAILABLE);
  expect(await bodyOf(views, 'a')).toBe('1');
  await holder.query('ROLLBACK');
  await views.apply(STREAM, 1, [change('a', 2)]);
  expect(await views.saveMark(STREAM, 1, NOTHING_FOLDED, 1, NONE)).toBe('saved');
});

scratchTest(
  'FLD-7: a switch waits for a save of the shown mark that is on its way, and then compares',
  async (scratch) => {
    const views = await scratch.open();
    await views.saveMark(STREAM, 1, NOTHING_FOLDED, 0, NONE);
    await views.startBuild(STREAM, NONE);
    const saver = await scratch.client();
    await saver.query(`BEGIN; UPDATE view_marks SET folded_through = 5 WHERE epoch = 1`);
    const switched = views.switchTo(STREAM, 2);
    const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%view_marks%'`;
    // Not through the saver: inside a transaction the first look at this view is what all later ones show.
    const look = await scratch.client();
    while ((await look.query(waits)).rowCount === 0);
    await saver.query('COMMIT');
    expect(await switched).toBe('conflict');
    expect((await views.mark(STREAM))?.epoch).toBe(1);
    expect((await views.build(STREAM))?.epoch).toBe(2);
  },
);

// kills: apply.ts: ORDER BY given.kind, id, given.field, member => ORDER BY random()
scratchTest(
  'FLD-5: workers that write the same documents in other orders do not break each other off',
  async (scratch) => {
    const workers = [await scratch.open(), await scratch.open(), await scratch.open()];
    await workers[0]!.saveMark(STREAM, 1, NOTHING_FOLDED, 0, NONE);
    const ids = Array.from({ length: 200 }, (_, at) => `id-${at}`);
    for (let lamport = 1; lamport <= 5; lamport++) {
      await Promise.all(
        workers.map((views, at) => {
          const order = at === 0 ? ids : at === 1 ? ids.toReversed() : [...ids.slice(100), ...ids.slice(0, 100)];
          return views.apply(
            STREAM,
            1,
            order.map((id) => change(id, 10 * lamport + at)),
          );
        }),
      );
    }
    expect(await bodyOf(workers[0]!, 'id-7')).toBe('52');
    expect((await workers[1]!.documents(STREAM, 'events', null, 1000)).documents).toHaveLength(200);
  },
);

scratchTest('OPS-4: a large page is read in steps, in one snapshot', async (scratch) => {
  const views = await scratch.open();
  await views.saveMark(STREAM, 1, NOTHING_FOLDED, 0, NONE);
  const members = Array.from({ length: 2500 }, (_, at) => String(at).padStart(4, '0'));
  const tags = members.map((member) => change('a', 1, { field: 'tags', shape: 'set', member, rule: 'lower' }));
  await views.apply(STREAM, 1, [...tags, change('b', 1), change('c', 1)]);
  const { documents, next } = await views.documents(STREAM, 'events', null, 2);
  expect([documents.map(({ id }) => id), next]).toEqual([['a', 'b'], 'b']);
  expect(documents[0]!.fields.get('tags')!.members.size).toBe(2500);
});

test('OPS-2, OPS-6: what an operator reads names the setting of this service, the database and what it said', async () => {
  const url = 'postgres://u@127.0.0.1:1/d?sslmode=disable';
  const opened = connectPostgresViews({ url, caFile: '/missing.pem', warn: () => {} });
  await expect(opened).rejects.toMatchObject({
    code: 'misconfigured',
    message: 'FOLD_PG_CA_FILE: /missing.pem cannot be read (ENOENT)',
  });
  const said = Object.assign(new Error('raw'), { code: '54000', severity: 'ERROR' });
  const { code, message } = mapError(said, 'Postgres h:1/d', VIEWS);
  expect([code, message]).toEqual(['too_large', 'Postgres h:1/d cannot hold something of this size (54000: raw)']);
});
