import { idempotencyKey } from '@tidemark/libs-wire';
import { memberField } from './field.ts';
import { IngestWorld, LEASE_MS, NDJSON, key, ndjson } from './spec-world.ts';
import { type TableSettings, fixedTables, openTable } from './tables.ts';

const op = (id: string) => idempotencyKey('0', 'events', id);
const withTable = (settings: Partial<TableSettings>) =>
  new IngestWorld({ tables: fixedTables({ '0': [{ ...openTable('events'), ...settings }] }) });

// kills: answer.ts: '{"ok":true}' : '{"duplicate":true}' => '{"ok":true}' : '{"ok":true}'
test('ING-1, FLD-8: an object is ok once and a duplicate from then on, with its op id', async () => {
  const world = new IngestWorld();
  const headers = { 'Tidemark-Op': op('ev-1') };
  expect(await world.post('{"event_id":"ev-1"}')).toEqual({ status: 200, headers, body: { ok: true } });
  expect(await world.post('{"event_id":"ev-1"}')).toEqual({ status: 200, headers, body: { duplicate: true } });
  expect(await world.queued()).toEqual([
    {
      table: 'events',
      receivedTimestamp: new Date(world.time.now()).toISOString(),
      id: 'ev-1',
      entity: null,
      data: '{"event_id":"ev-1"}',
    },
  ]);
  expect(world.counts).toEqual({ stored: 1, duplicate: 1 });
});

test('FLD-8: no op id is told of a record without id, nor where an id may come again as another event', async () => {
  expect((await new IngestWorld().post('{"a":1}')).headers).toEqual({});
  const finite = withTable({ retentionMs: 600_000 });
  expect(await finite.post('{"event_id":"a"}')).toEqual({ status: 200, headers: {}, body: { ok: true } });
  expect(finite.dedupe.retentionMs(key('a'))).toBe(600_000);
});

test('ING-1: an array with a repeat and a bad record is answered record by record', async () => {
  const world = new IngestWorld();
  const { status, headers, body } = await world.post('[{"event_id":"a"},{"event_id":"a"},7,{}]');
  expect([status, headers]).toEqual([200, {}]);
  expect(body).toEqual({
    total: 4,
    succeeded: 2,
    failed: 1,
    duplicates: 1,
    results: [
      { index: 1, ok: true, op: op('a') },
      { index: 2, duplicate: true, op: op('a') },
      { index: 3, error: 'a record must be a json object' },
      { index: 4, ok: true },
    ],
  });
});

test('ING-1: [] is a batch of nothing', async () => {
  const { status, body } = await new IngestWorld().post('[]');
  expect([status, body]).toEqual([200, { total: 0, succeeded: 0, failed: 0, duplicates: 0, results: [] }]);
});

test('ING-1, ING-11: a bad line of NDJSON fails alone, and a batch of bad ones is still 200', async () => {
  const world = new IngestWorld();
  const { body } = await world.post('{"event_id":"a"}\r\n\r\n{"event_id":\n{"event_id":"c"}', NDJSON);
  expect(body).toMatchObject({ total: 3, succeeded: 2, failed: 1, duplicates: 0 });
  expect(body.results[1]).toEqual({ index: 2, error: expect.stringMatching(/^invalid json: /) });
  expect(await world.queuedIds()).toEqual(['a', 'c']);
  const bad = await world.post('1\n2\n', NDJSON);
  expect([bad.status, bad.body.failed]).toEqual([200, 2]);
});

test.each([
  ['NDJSON', (records: string[]) => records.join('\n'), NDJSON],
  ['an array', (records: string[]) => `[${records.join(',')}]`, {}],
])(
  'ING-1: results stay in input order across windows of %s, rejects and repeats included',
  async (_name, join, post) => {
    const records = Array.from({ length: 600 }, (_, i) => {
      if (i % 5 === 2) return '3';
      if (i % 5 === 4) return '{"no":"id"}';
      return i % 5 === 1 ? `{"event_id":"${i - 1}"}` : `{"event_id":"${i % 5 === 3 && i > 256 ? i - 258 : i}"}`;
    });
    const world = new IngestWorld();
    const { body } = await world.post(join(records), post);
    const seen = new Set<string>();
    const expected = records.map((text, i) => {
      const id = /"event_id":"(\d+)"/.exec(text)?.[1];
      const index = i + 1;
      if (text === '3') return { index, error: 'a record must be a json object' };
      if (id === undefined) return { index, ok: true };
      const verdict = seen.has(id) ? { index, duplicate: true, op: op(id) } : { index, ok: true, op: op(id) };
      seen.add(id);
      return verdict;
    });
    expect(body.results).toEqual(expected);
    expect(world.dedupe.reserves).toBe(3);
  },
);

test('ING-1: every record of a request carries the time at which the request arrived', async () => {
  const world = new IngestWorld();
  const arrived = new Date(world.time.now()).toISOString();
  world.beforePublish(1, async () => world.time.advance(1500));
  await world.post(ndjson(300), NDJSON);
  expect(new Set((await world.queued()).map(({ receivedTimestamp }) => receivedTimestamp))).toEqual(new Set([arrived]));
});

test('I11, ING-9: one id in two tables and two tenants is four events', async () => {
  const tables = [openTable('a'), openTable('b')];
  const world = new IngestWorld({ tables: fixedTables({ '0': tables, t: tables }) });
  for (const tenant of ['0', 't']) {
    for (const table of ['a', 'b']) {
      expect((await world.post('{"event_id":"x"}', { tenant, table })).body).toEqual({ ok: true });
    }
  }
  expect(await world.queuedIds()).toHaveLength(4);
});

// kills: reserve.ts: if (record.kind === 'rejected') return => if (record.kind === 'rejected' && record.status > 499) return
test('ING-4: a rejected record does not burn its id', async () => {
  const world = new IngestWorld();
  expect((await world.post('{"event_id":"a","event_id":"a"}')).status).toBe(400);
  expect((await world.post('{"event_id":"a",}')).status).toBe(400);
  expect((await world.post('{"event_id":"a"}')).body).toEqual({ ok: true });
  expect(world.counts).toEqual({ rejected: 2, stored: 1 });
});

test('I14: a record without id is refused where the table requires one, and otherwise published each time', async () => {
  const strict = withTable({ requireId: true });
  expect(await strict.post('{"event_id":null}')).toEqual({
    status: 400,
    headers: { 'Tidemark-Outcome': 'not-done' },
    body: { error: 'missing dedupe id field "event_id"' },
  });
  expect(strict.counts).toEqual({ rejected: 1, missing_id: 1 });
  const open = new IngestWorld();
  for (let i = 0; i < 3; i++) expect((await open.post('{"event_id":null}')).body).toEqual({ ok: true });
  expect(await open.queuedIds()).toEqual([null, null, null]);
});

test('ING-11, I17: two objects under application/json are refused, never one of them lost', async () => {
  const world = new IngestWorld();
  const { status, body } = await world.post('{"event_id":"a"}{"event_id":"b"}');
  expect([status, world.broker.publishes]).toEqual([400, 0]);
  expect(body.error).toMatch(/^invalid json: /);
});

test('ING-1: what is refused before the body is read is refused by ingest too', async () => {
  const world = new IngestWorld();
  expect((await world.post('{}', { table: 'x' })).status).toBe(404);
  expect((await world.post('{}', { type: 'text/plain' })).status).toBe(415);
  expect((await world.post('')).body).toEqual({ error: 'empty body' });
  expect(world.broker.publishes).toBe(0);
});

describe('what the queue does not take', () => {
  test('ING-11b, I16: an event over its limit is that record’s 413, refused before any Reserve; the others are stored', async () => {
    const world = new IngestWorld();
    const big = `{"event_id":"big","s":"${'x'.repeat(world.broker.bodyBytesMax)}"}`;
    const single = await world.post(big);
    expect([single.status, single.headers, world.dedupe.reserves]).toEqual([
      413,
      { 'Tidemark-Outcome': 'not-done' },
      0,
    ]);
    const { body } = await world.post(`{"event_id":"a"}\n${big}\n{"event_id":"b"}`, NDJSON);
    expect(body).toMatchObject({ succeeded: 2, failed: 1 });
    expect(body.results[1].error).toMatch(/exceeds the queue's limit/);
    expect(await world.queuedIds()).toEqual(['a', 'b']);
  });

  test('I16: an event that the queue itself finds too large fails alone and gives its id back', async () => {
    const world = new IngestWorld();
    world.endPublish(1, 'too_large');
    const single = await world.post('{"event_id":"a"}');
    expect([single.status, single.body]).toEqual([413, { error: 'the queue refused the record as too large' }]);
    world.endPublish(2, 'too_large');
    const { body } = await world.post('{"event_id":"c"}\n{"event_id":"a"}\n{"event_id":"d"}', NDJSON);
    expect(body).toMatchObject({ succeeded: 2, failed: 1 });
    expect(world.dedupe.released).toEqual([key('a'), key('a')]);
    expect((await world.post('{"event_id":"a"}')).body).toEqual({ ok: true });
  });

  test('I19: the repeat of a refused record is not called a duplicate: nothing of it is stored', async () => {
    const world = new IngestWorld();
    world.endPublish(1, 'too_large');
    const { body } = await world.post('{"event_id":"a","n":1}\n{"event_id":"a","n":2}', NDJSON);
    expect(body).toMatchObject({ failed: 2, duplicates: 0, succeeded: 0 });
    expect(body.results[1].error).toBe('not sent: the queue refused an earlier record with the same id as too large');
    expect(world.counts).toEqual({ refused: 1, unsent: 1 });
  });
});

describe('retries and rivals', () => {
  test('I1: refused, sent again, sent a third time: 503, ok, duplicate, and one event', async () => {
    const world = new IngestWorld();
    world.endPublish(1, 'full');
    expect((await world.post('{"event_id":"a"}')).status).toBe(503);
    expect((await world.post('{"event_id":"a"}')).body).toEqual({ ok: true });
    expect((await world.post('{"event_id":"a"}')).body).toEqual({ duplicate: true });
    expect(await world.queuedIds()).toEqual(['a']);
  });

  test('ING-2, I20: stored but reported failed: in flight until the lease ends, then ok, and no second copy', async () => {
    const world = new IngestWorld({ leaseMs: 2000 });
    world.endPublish(3, 'unknown', true);
    expect((await world.post(ndjson(3), NDJSON)).status).toBe(500);
    const early = await world.post(ndjson(3), NDJSON);
    expect([early.status, early.headers]).toEqual([503, { 'Retry-After': '2', 'Tidemark-Outcome': 'partly' }]);
    world.time.advance(2000);
    expect((await world.post(ndjson(3), NDJSON)).body).toMatchObject({ succeeded: 1, duplicates: 2 });
    expect(await world.queuedIds()).toEqual(['1', '2', '3']);
    expect((await world.post(ndjson(3), NDJSON)).body).toMatchObject({ duplicates: 3 });
  });

  test('I5: a publisher that stands still past its lease while another sends the same leaves one event', async () => {
    const world = new IngestWorld();
    world.beforePublish(1, async () => {
      world.time.advance(LEASE_MS + 1000);
      expect((await world.post('{"event_id":"a"}')).body).toEqual({ ok: true });
    });
    expect((await world.post('{"event_id":"a"}')).body).toEqual({ ok: true });
    expect(await world.queuedIds()).toEqual(['a']);
    expect((await world.post('{"event_id":"a"}')).body).toEqual({ duplicate: true });
  });

  test('I5: what was not sent while the claims were held is not sent after, and given back', async () => {
    const world = new IngestWorld({ publishesInFlightMax: 1 });
    world.beforePublish(2, async () => world.time.advance(LEASE_MS));
    const { status, headers, body } = await world.post(ndjson(4), NDJSON);
    expect([status, body]).toEqual([503, { error: 'service unavailable' }]);
    expect(headers).toEqual({ 'Retry-After': '5', 'Tidemark-Outcome': 'partly' });
    expect(await world.queuedIds()).toEqual(['1', '2']);
    expect((await world.post(ndjson(4), NDJSON)).body).toMatchObject({ duplicates: 2, succeeded: 2 });
  });

  test('I5: records without id are not bound to a lease', async () => {
    const world = new IngestWorld({ publishesInFlightMax: 1 });
    world.beforePublish(1, async () => world.time.advance(LEASE_MS));
    expect((await world.post('{}\n{}', NDJSON)).body).toMatchObject({ succeeded: 2 });
  });

  // kills: window.ts: claimsAt(settlement.commit, standings) => claimsAt([], standings)
  test('ING-5, ING-12: a request that nobody waits for any more commits what it published and gives back the rest', async () => {
    const world = new IngestWorld({ publishesInFlightMax: 1 });
    world.endPublish(3, 'full');
    void world.post(ndjson(4), NDJSON);
    while (world.dedupe.released.length < 2) await Promise.resolve();
    expect(['1', '2', '3', '4'].map((id) => world.dedupe.committed(key(id)))).toEqual([true, true, false, false]);
    expect(world.dedupe.released).toEqual([key('3'), key('4')]);
  });

  test('ING-2, DDP-2: 64 requests with one id at once store one event; the others hear in flight or duplicate', async () => {
    const world = new IngestWorld();
    const told = await Promise.all(Array.from({ length: 64 }, () => world.post('{"event_id":"a"}')));
    expect(told.filter(({ body }) => body.ok)).toHaveLength(1);
    expect(told.filter(({ status, body }) => status === 503 || body.duplicate)).toHaveLength(63);
    expect(await world.queuedIds()).toEqual(['a']);
  });

  test('I19, ING-12: every record of every window ends in exactly one count', async () => {
    const world = new IngestWorld();
    world.endPublish(3, 'full');
    world.endPublish(4, 'unknown');
    await world.dedupe.commit([await world.dedupe.hold(key('d'))], 0);
    const batch = [
      'x',
      '{"event_id":"d"}',
      '{}',
      '{"event_id":"a"}',
      '{"event_id":"a"}',
      '{"event_id":"b"}',
      '{"event_id":"c"}',
    ];
    await world.post(batch.join('\n'), NDJSON);
    const ends = { rejected: 1, duplicate: 2, stored: 2, refused: 1, uncertain: 1 };
    expect(world.counts).toEqual({ missing_id: 1, ...ends });
    expect(Object.values(ends).reduce((a, b) => a + b)).toBe(batch.length);
  });
});

test('ING-9, PR 508: a request keeps the settings that it began with; a reload takes effect at the next one', async () => {
  let now = fixedTables({ '0': [{ ...openTable('events'), retentionMs: 600_000 }] });
  const world = new IngestWorld({ tables: { tenants: () => ['0'], tenant: (id) => now.tenant(id) } });
  world.beforePublish(1, async () => {
    now = fixedTables({ '0': [{ ...openTable('events'), requireId: true, idField: memberField('id') }] });
  });
  const body = ndjson(300);
  expect((await world.post(body, NDJSON)).body).toMatchObject({ succeeded: 300 });
  expect([world.dedupe.retentionMs(key('1')), world.dedupe.retentionMs(key('300'))]).toEqual([600_000, 600_000]);
  expect((await world.post(body, NDJSON)).body).toMatchObject({ failed: 300 });
});

test('#370: records whose id is null do not collapse into one', async () => {
  const three = '{"event_id":null,"n":1}\n{"event_id":null,"n":2}\n{"event_id":null,"n":3}';
  const open = new IngestWorld();
  expect((await open.post(three, NDJSON)).body).toMatchObject({ succeeded: 3, duplicates: 0 });
  const strict = new IngestWorld({ tables: fixedTables({ '0': [{ ...openTable('events'), requireId: true }] }) });
  expect((await strict.post(three, NDJSON)).body).toMatchObject({ failed: 3, succeeded: 0 });
});
