import 'reflect-metadata';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { MemoryBroker } from '@tidemark/libs-broker-contract/testing';
import { MemoryDedupeStore, MemoryDeduplicator } from '@tidemark/libs-dedupe-contract/testing';
import { IngestService, defaultTables } from '@tidemark/libs-ingest';
import { INGEST_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { Metrics, createHttp, createLog } from '@tidemark/libs-service-kit';
import { idempotencyKey } from '@tidemark/libs-wire';
import { AppModule } from './app.module.ts';
import { admitEvents } from './events.controller.ts';
import { ingest } from './ingest.ts';

let app: NestFastifyApplication;
let broker: MemoryBroker;

beforeEach(async () => {
  const time = new ManualTime();
  broker = new MemoryBroker({ clock: time, sleeper: time });
  await broker.openQueue('0', 1n << 30n);
  const deduplicator = new MemoryDeduplicator(new MemoryDedupeStore({ clock: time, random: new SeededRandom(1) }));
  const service = new IngestService({ deduplicator, broker, tables: defaultTables, clock: time, leaseMs: 30_000 });
  const parts = {
    log: createLog('ingest', 'silent'),
    metrics: new Metrics('ingest'),
    clock: time,
    stopping: new AbortController().signal,
  };
  app = await createHttp(
    AppModule.create({ service, clock: time }),
    { ...ingest.http, admit: admitEvents(service) },
    parts,
  );
  await app.listen(0, '127.0.0.1');
});

afterEach(() => app.close());

const post = async (body: string, headers: Record<string, string> = {}, query = '?table=events') =>
  fetch(`${await app.getUrl()}/v1/ingest${query}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
const stored = async () => (await broker.stats('0')).messages;

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
  const get = await fetch(`${await app.getUrl()}/v1/ingest?table=events`);
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  const unknown = await fetch(`${await app.getUrl()}/v1/nothing`, { method: 'POST', body: '{}' });
  expect([unknown.status, await unknown.json()]).toEqual([404, { error: 'not found' }]);
});
