import { INGEST_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import { idempotencyKey } from '@tidemark/libs-wire';
import { startIngest } from './spec-ingest.ts';

let ingest: Awaited<ReturnType<typeof startIngest>>;

beforeEach(async () => {
  ingest = await startIngest();
});
afterEach(() => ingest.close());

const post: typeof ingest.post = (...of) => ingest.post(...of);
const stored = () => ingest.stored();

test('ING-1: an object is taken once, a repeat is a duplicate, and both name the op', async () => {
  const first = await post('{"event_id":"a","n":1}');
  expect([first.status, await first.text()]).toEqual([200, '{"ok":true}']);
  expect(first.headers.get('tidemark-op')).toBe(idempotencyKey('0', 'events', 'a'));
  expect(first.headers.get('content-type')).toBe('application/json');
  expect(await (await post('{"event_id":"a","n":1}')).text()).toBe('{"duplicate":true}');
  expect(await stored()).toBe(1n);
});

test('ING-1: NDJSON answers per record, in order', async () => {
  const answer = await post('{"event_id":"a"}\n{"event_id":\n{"event_id":"a"}\n', {
    'content-type': 'application/x-ndjson',
  });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ total: 3, succeeded: 1, failed: 1, duplicates: 1 });
});

test.each([
  ['a wrong content type', '{}', { 'content-type': 'text/plain' }, '?table=events', 415, /Content-Type "text\/plain"/],
  [
    'two content types in one',
    '{}',
    { 'content-type': 'application/json, application/x-ndjson' },
    '?table=events',
    415,
    /Content-Type/,
  ],
  ['no table', '{}', {}, '', 400, /^missing table$/],
  ['a repeated table', '{}', {}, '?table=events&table=events', 400, /table/],
  ['an unknown table', '{}', {}, '?table=nope', 404, /^unknown table: nope$/],
  ['an unknown tenant', '{}', { 'x-tenant-id': 'acme' }, '?table=events', 404, /^unknown tenant: acme$/],
  ['a malformed tenant', '{}', { 'x-tenant-id': 'a.b' }, '?table=events', 400, /^invalid X-Tenant-ID/],
  ['an empty body', '', {}, '?table=events', 400, /^empty body$/],
  ['broken JSON', '{"event_id":', {}, '?table=events', 400, /^invalid json/],
  ['two objects', '{"event_id":"a"}{"event_id":"b"}', {}, '?table=events', 400, /^invalid json/],
  ['an array cut short', '[{"event_id":"a"}', {}, '?table=events', 400, /^invalid json: unterminated json array$/],
])(
  'ING-1, OPS-6: %s is refused with its cause, and nothing is stored',
  async (_what, body, headers, query, status, error) => {
    const answer = await post(body, headers as Record<string, string>, query);
    expect(answer.status).toBe(status);
    expect(((await answer.json()) as { error: string }).error).toMatch(error);
    expect(answer.headers.get('tidemark-outcome')).toBe('not-done');
    expect(answer.headers.get('vary')).toBe('X-Tenant-ID');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await stored()).toBe(0n);
  },
);

test('ING-1: a body of 16 MiB is read, one byte more is 413 and named so', async () => {
  const body = (bytes: number) => `{"event_id":"big"}${' '.repeat(bytes - 18)}`;
  expect((await post(body(INGEST_BODY_BYTES_MAX))).status).toBe(200);
  const refused = await post(body(INGEST_BODY_BYTES_MAX + 1));
  expect(refused.status).toBe(413);
  expect(await refused.json()).toEqual({ error: `request body exceeded ${INGEST_BODY_BYTES_MAX} bytes` });
  expect(refused.headers.get('tidemark-outcome')).toBe('not-done');
});

test('a record without id is taken, and each copy stands for itself', async () => {
  expect((await post('{"n":1}')).status).toBe(200);
  expect((await post('{"n":1}')).status).toBe(200);
  expect(await stored()).toBe(2n);
});

test('other methods are 405, other paths 404, both as JSON', async () => {
  const get = await fetch(`${ingest.url}/v1/ingest?table=events`);
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  const unknown = await fetch(`${ingest.url}/v1/nothing`, { method: 'POST', body: '{}' });
  expect([unknown.status, await unknown.json()]).toEqual([404, { error: 'not found' }]);
});

test('ING-9: validate=1 judges and stores nothing; another value is refused', async () => {
  const dry = await post('[{"event_id":"a"},{"event_id":[]}]', {}, '?table=events&validate=1');
  expect([dry.status, await dry.json()]).toEqual([
    200,
    {
      total: 2,
      succeeded: 1,
      failed: 1,
      duplicates: 0,
      results: [
        { index: 1, valid: true },
        { index: 2, error: 'dedupe id field "event_id": an array is no id' },
      ],
    },
  ]);
  expect(await stored()).toBe(0n);
  for (const query of ['?table=events&validate=yes', '?table=events&validate=', '?table=events&validate=1&validate=1'])
    expect((await post('{}', {}, query)).status).toBe(400);
  expect((await post('{}', {}, '?table=events&validate=0')).status).toBe(200);
});

test('ING-9: GET /v1/tables tells the tables of the tenant', async () => {
  const tables = await fetch(`${ingest.url}/v1/tables`);
  expect(tables.status).toBe(200);
  expect(tables.headers.get('vary')).toBe('X-Tenant-ID');
  expect(await tables.json()).toMatchObject({ tables: [{ name: 'events', id_field: 'event_id' }] });
  const unknown = await fetch(`${ingest.url}/v1/tables`, { headers: { 'x-tenant-id': 'acme' } });
  expect([unknown.status, await unknown.json()]).toEqual([404, { error: 'unknown tenant: acme' }]);
});

test('ING-9: a tenant whose settings never were good is 503 on every route, without a detail', async () => {
  const invalid = await startIngest({ tenants: () => [], tenant: () => ({ kind: 'invalid' }) });
  for (const answer of [await invalid.post('{}'), await fetch(`${invalid.url}/v1/tables`)]) {
    expect([answer.status, await answer.json()]).toEqual([503, { error: 'tenant settings are invalid' }]);
    expect(answer.headers.get('vary')).toBe('X-Tenant-ID');
    expect(answer.headers.get('tidemark-outcome')).toBe('not-done');
  }
  await invalid.close();
});
