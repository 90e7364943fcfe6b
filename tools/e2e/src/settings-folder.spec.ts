import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ServiceProcess, buildServices } from './service-process.ts';

let folder: string;
let settings: string;
let ingest: ServiceProcess;
let url: string;

const TOKEN = 'tdm_of-the-shop';
const tokens = {
  tokens: [
    {
      name: 'shop',
      hash: `sha256:${createHash('sha256').update(TOKEN).digest('hex')}`,
      grants: [{ actions: ['write'], tenants: ['acme', 'later'] }],
      roles: ['shop'],
      claims: { org: 'o1' },
    },
  ],
};
const orders = {
  id_field: 'order_id',
  require_id: true,
  schema: { type: 'object', properties: { total: { type: 'number', minimum: 0 } } },
  grants: { shop: { insert: true, check: { org: { eq: { claim: 'org' } } } } },
};

/** Into place at once, as an editor or a mount does it. */
function write(name: string, content: string | object): void {
  const file = path.join(settings, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}~`, typeof content === 'string' ? content : JSON.stringify(content));
  renameSync(`${file}~`, file);
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tidemark-folder-'));
  settings = path.join(folder, 'settings');
  write('acme/tenant.json', {});
  write('acme/tables/orders.json', orders);
  writeFileSync(path.join(folder, 'tokens.json'), JSON.stringify(tokens));
  await buildServices('ingest');
  ingest = new ServiceProcess('ingest', {
    INGEST_ADDR: '127.0.0.1:0',
    INGEST_SETTINGS_DIR: settings,
    TIDEMARK_DATA: path.join(folder, 'data'),
    TIDEMARK_AUTH: 'tokens',
    TIDEMARK_TOKENS_FILE: path.join(folder, 'tokens.json'),
  });
  ({ url } = await ingest.listening());
}, 120_000);
afterAll(async () => {
  await ingest.destroy();
  rmSync(folder, { recursive: true });
});

async function post(body: string, query = 'table=orders', headers: Record<string, string> = {}) {
  const known = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}`, 'x-tenant-id': 'acme' };
  const answer = await fetch(`${url}/v1/ingest?${query}`, { method: 'POST', headers: { ...known, ...headers }, body });
  return [answer.status, await answer.json()] as const;
}

/** The first line of the log that says so of the tenant, after what it said before. */
const told = (message: string, tenant: string) =>
  ingest.logs((line) => line.tenant === tenant && String(line.message).startsWith(message));

test('ING-9: a running service takes its tables, roles and claims from files, and follows their changes', async () => {
  expect(await post('{"order_id":"a","total":1}')).toEqual([200, { ok: true }]);
  expect(await post('{"order_id":"b","org":"o2"}')).toEqual([403, { error: 'check failed for column "org"' }]);
  expect(await post('{"total":1}')).toEqual([400, { error: 'missing dedupe id field "order_id"' }]);
  expect(await post('{"order_id":"c","total":-1}')).toEqual([400, { error: '/total: must be >= 0' }]);
  expect((await post('{"event_id":"a"}', 'table=events'))[0]).toBe(404);

  write('acme/tables/orders.json', '{"id_field":');
  await told('tenant settings are invalid; the last good ones stay', 'acme');
  expect(await post('{"order_id":"a"}')).toEqual([200, { duplicate: true }]);

  write('later/tenant.json', { budget: 1_000_000 });
  write('later/tables/t%2Es.json', {});
  await told('tenant settings loaded', 'later');
  const later = { 'x-tenant-id': 'later' };
  expect(await post('{"event_id":"a"}', 'table=t.s', later)).toEqual([200, { ok: true }]);
  expect(await post('{"event_id":"a"}', 'table=t.s', later)).toEqual([200, { duplicate: true }]);

  rmSync(path.join(settings, 'later'), { recursive: true });
  await told('tenant removed', 'later');
  expect(await post('{}', 'table=t.s', later)).toEqual([404, { error: 'unknown tenant: later' }]);
}, 60_000);

/** Stands in every place where content of an event can stand; no line of the log may hold it. */
const CONTENT = 'c0ntent';
const HOSTILE = [
  `{"order_id":"${CONTENT}","org":"${CONTENT}"}`,
  `{"order_id":"${CONTENT}","total":"${CONTENT}"}`,
  `{"order_id":["${CONTENT}"]}`,
  `{"order_id":"${CONTENT}","order_id":"${CONTENT}"}`,
  `{"${CONTENT}":1}`,
  `{"order_id":"${CONTENT}"`,
  `{"order_id":"${CONTENT}"}{"order_id":"${CONTENT}"}`,
  `[{"order_id":"${CONTENT}\\n{\\"level\\":\\"error\\"}"},${CONTENT}]`,
  `{"__proto__":{"order_id":"${CONTENT}"},"constructor":{"prototype":{"polluted":"${CONTENT}"}}}`,
  `{"order_id":"${CONTENT}\\ud800"}`,
  `{"order_id":"${CONTENT}${'x'.repeat(3_000_000)}"}`,
  `{"order_id":"../../${CONTENT}\\u0000/etc","total":1}`,
];

test('SEC-2: no line of the log holds content of an event, and each is one JSON object whatever was sent', async () => {
  for (const body of HOSTILE) {
    for (const type of ['application/json', 'application/x-ndjson']) {
      const [status] = await post(body, 'table=orders', { 'content-type': type });
      expect([200, 400, 403, 413]).toContain(status);
    }
  }
  const odd = encodeURIComponent(`${CONTENT}\n{"level":"fatal"}`);
  for (const query of [`table=${odd}`, `table=orders&${odd}=${odd}`]) await post('{"order_id":"z"}', query);
  for (const header of ['x-request-id', 'traceparent', 'user-agent', 'content-type', 'x-tenant-id'])
    await post('{"order_id":"y"}', 'table=orders', { [header]: `"${CONTENT}\t{} %0a` });
  const { code, stdout, stderr } = await ingest.stop();
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.split('\n').slice(0, -1);
  expect(lines.filter((line) => line.includes(CONTENT))).toEqual([]);
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), service: 'ingest' });
}, 60_000);
