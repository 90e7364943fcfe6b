import { type TableSettings, fixedTables, openTable } from '@tidemark/libs-ingest';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { type Caller, Metrics, createLog, guardOf } from '@tidemark/libs-service-kit';
import { ingestAccess } from './access.ts';
import { startIngest } from './spec-ingest.ts';

const ORDERS: TableSettings = {
  ...openTable('orders'),
  grants: [
    {
      role: 'shop',
      columns: new Set(['event_id', 'org', 'n']),
      checks: [{ column: 'org', kind: 'eq', from: { kind: 'claim', path: ['org'] } }],
    },
  ],
};
const TABLES = fixedTables({
  '0': [openTable('events')],
  acme: [openTable('events'), ORDERS],
  other: [openTable('x')],
});

const acme = { actions: ['write' as const], tenants: ['acme'], streams: '*' as const };
const CALLERS: Record<string, Omit<Caller, 'name'>> = {
  shop: { grants: [acme], roles: ['shop'], claims: { org: 'o1' } },
  nobody: { grants: [acme], roles: [], claims: {} },
  orphan: { grants: [acme], roles: ['shop'], claims: {} },
  narrow: { grants: [{ ...acme, streams: ['acme.orders'] }], roles: ['shop'], claims: {} },
  reader: { grants: [{ ...acme, actions: ['read'] }], roles: ['shop'], claims: {} },
};

let ingest: Awaited<ReturnType<typeof startIngest>>;

beforeEach(async () => {
  const guard = guardOf({
    authenticator: {
      authenticate: async (token) => ({ kind: 'caller', caller: { name: token, ...CALLERS[token]! } }),
      watch: async () => {},
    },
    access: ingestAccess,
    clock: new ManualTime(),
    log: createLog('ingest', 'silent'),
    metrics: new Metrics('ingest'),
  });
  ingest = await startIngest(TABLES, { gate: { guard } });
});
afterEach(() => ingest.close());

const as = (name: string, tenant = 'acme') => ({ authorization: `Bearer ${name}`, 'x-tenant-id': tenant });
async function post(name: string, body: string, table = 'orders', tenant?: string) {
  const answer = await ingest.post(body, as(name, tenant), `?table=${table}`);
  return [answer.status, await answer.json()];
}

test('ING-9: a role may insert what its grant says, and the claim of the caller is added', async () => {
  expect(await post('shop', '{"event_id":"a","n":1}')).toEqual([200, { ok: true }]);
  const [event] = await (await ingest.broker.consume('acme', { name: 'r', ackWaitMs: 1000 })).fetch(1, 0);
  expect(Buffer.from(event!.body).toString()).toContain('"data":{"event_id":"a","n":1,"org":"o1"}');
  expect(await post('shop', '{"event_id":"b","org":"o2"}')).toEqual([403, { error: 'check failed for column "org"' }]);
  expect(await post('shop', '{"event_id":"b","x":1}')).toEqual([403, { error: 'column "x" not allowed for insert' }]);
  expect(await post('orphan', '{"event_id":"b"}')).toEqual([403, { error: 'check failed for column "org"' }]);
  expect(await ingest.stored('acme')).toBe(1n);
});

test('ING-9: without a role the whole request is refused before its body; a table without grants asks for none', async () => {
  const forbidden = [403, { error: 'forbidden: no role of the caller may insert into the table' }];
  expect(await post('nobody', '[]')).toEqual(forbidden);
  expect(await post('nobody', '{"event_id":"a"}', 'events')).toEqual([200, { ok: true }]);
});

test('ING-9, SEC-1: a bad record of a batch fails alone, also for what its sender may not do', async () => {
  const [status, body] = await post('shop', '[{"event_id":"a"},{"event_id":"b","org":"o2"},{"event_id":"c"}]');
  expect([status, body]).toMatchObject([
    200,
    { succeeded: 2, failed: 1, results: [{}, { error: expect.any(String) }, {}] },
  ]);
});

test('SEC-1: no tenant sees or fills another, whatever the role', async () => {
  expect((await post('shop', '{}', 'x', 'other'))[0]).toBe(403);
  expect((await post('shop', '{}', 'events', '0'))[0]).toBe(403);
  expect((await post('reader', '{}'))[0]).toBe(403);
});

test('SEC-1, ING-9: the list of tables shows those that the caller may insert into; who has no right on the tenant learns nothing', async () => {
  const list = async (name: string, tenant?: string) => {
    const answer = await fetch(`${ingest.url}/v1/tables`, { headers: as(name, tenant) });
    const body = (await answer.json()) as { tables?: { name: string }[] };
    return [answer.status, body.tables?.map((table) => table.name)];
  };
  expect(await list('shop')).toEqual([200, ['events', 'orders']]);
  expect(await list('nobody')).toEqual([200, ['events']]);
  expect(await list('narrow')).toEqual([200, ['orders']]);
  for (const tenant of ['other', 'none', '0']) expect(await list('shop', tenant)).toEqual([403, undefined]);
  expect(await list('reader')).toEqual([403, undefined]);
});
