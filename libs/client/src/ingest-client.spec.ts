import { connectIngest } from './ingest-client.ts';
import { type Script, ScriptedService, answer, broken } from './spec-service.ts';

const ingestOf = (script: Script, options = {}) => {
  const service = new ScriptedService(script);
  return { service, ingest: connectIngest({ ...service.options, ...options }) };
};

/** An ingest that remembers every line it was sent. */
function remembering() {
  const known = new Set<string>();
  return ({ body }: { body: string }) => {
    const lines = body.split('\n').filter((line) => line.trim() !== '');
    const results = lines.map((line, i) => {
      const duplicate = known.has(line);
      known.add(line);
      return `{"index":${i + 1},"${duplicate ? 'duplicate' : 'ok'}":true,"op":"op of ${line.length}"}`;
    });
    return answer(200, `{"total":${lines.length},"results":[${results.join(',')}]}`);
  };
}

test('ING-1: one record is stored or known, and its op id comes with it', async () => {
  const { ingest, service } = ingestOf(
    (_, nth) => answer(200, nth === 1 ? '{"ok":true}' : '{"duplicate":true}', nth < 3 ? { 'tidemark-op': 'abc' } : {}),
    { tenant: 't1', table: 'a b' },
  );
  expect(await ingest.postOne('{"event_id":1}')).toEqual({ kind: 'stored', op: 'abc' });
  expect(await ingest.postOne('{"event_id":1}')).toEqual({ kind: 'duplicate', op: 'abc' });
  expect(await ingest.postOne('{}')).toEqual({ kind: 'duplicate', op: null });
  expect(service.seen[0]).toEqual({
    method: 'POST',
    url: 'http://service/v1/ingest?table=a%20b',
    headers: { 'content-type': 'application/json', 'x-tenant-id': 't1' },
    body: '{"event_id":1}',
  });
});

test('ING-1: records go as NDJSON, and each is told what became of it', async () => {
  const results = '[{"index":1,"ok":true,"op":"x"},{"index":2,"error":"invalid json"},{"index":3,"duplicate":true}]';
  const { ingest, service } = ingestOf(() => answer(200, `{"total":3,"results":${results}}`));
  expect(await ingest.post(['{\r\n "a": 1\n}', ' ', '{"b":2}'])).toEqual({
    outcomes: [
      { kind: 'stored', op: 'x' },
      { kind: 'refused', reason: 'invalid json' },
      { kind: 'duplicate', op: null },
    ],
    error: null,
  });
  expect(service.seen[0]?.headers['content-type']).toBe('application/x-ndjson');
  expect(service.seen[0]?.body).toBe('{  "a": 1 }\nnull\n{"b":2}\n');
});

test('a request has at most 10,000 records and 16 MiB', async () => {
  const { ingest, service } = ingestOf(remembering());
  const many = Array.from({ length: 10_001 }, (_, i) => `{"event_id":${i}}`);
  expect((await ingest.post(many)).outcomes).toHaveLength(10_001);
  const wide = Array.from({ length: 3 }, (_, i) => `{"event_id":"w${i}","pad":"${'x'.repeat(6 * 1024 * 1024)}"}`);
  expect((await ingest.post(wide)).outcomes).toHaveLength(3);
  expect(service.seen.map(({ body }) => body.trim().split('\n').length)).toEqual([10_000, 1, 2, 1]);
});

test('after a lost answer or a 503 the same body is sent again, when the service may', async () => {
  const store = remembering();
  const { ingest, service } = ingestOf((request, nth) => {
    if (nth === 1) return answer(503, '{"error":"in flight"}', { 'retry-after': '30', 'tidemark-outcome': 'not-done' });
    const stored = store(request);
    return nth === 2 ? broken() : stored;
  });
  const { outcomes, error } = await service.ended(ingest.post(['{"event_id":1}', '{"event_id":2}']));
  expect([outcomes.map(({ kind }) => kind), error]).toEqual([['duplicate', 'duplicate'], null]);
  expect(new Set(service.seen.map(({ body }) => body)).size).toBe(1);
  expect(service.time.monotonic()).toBeGreaterThanOrEqual(30_000);
});

test('records without ids are sent again only after what was certainly not done', async () => {
  const notDone = { 'tidemark-outcome': 'not-done' };
  const { ingest, service } = ingestOf((_, nth) => (nth < 3 ? answer(503, '', notDone) : broken()));
  const { outcomes, error } = await service.ended(ingest.post(['{}'], { withoutIds: true }));
  expect([outcomes, error?.outcome, service.seen.length]).toEqual([[], 'unknown', 3]);
});

test('where posts end early, the outcomes so far are kept', async () => {
  const store = remembering();
  const { ingest, service } = ingestOf((request, nth) =>
    nth === 1 ? store(request) : answer(413, '{"error":"request body exceeded"}', { 'tidemark-outcome': 'not-done' }),
  );
  const many = Array.from({ length: 10_001 }, (_, i) => `{"event_id":${i}}`);
  const { outcomes, error } = await service.ended(ingest.post(many));
  expect([outcomes.length, error?.status, error?.outcome]).toEqual([10_000, 413, 'not-done']);
});

test('an answer that tells of fewer records than were sent is not taken for one', async () => {
  const { ingest } = ingestOf(() => answer(200, '{"results":[]}'));
  expect(await ingest.post(['{}'])).toMatchObject({ outcomes: [], error: { status: 200, outcome: 'unknown' } });
});
