import { type RequestHead, admit } from './admit.ts';
import { EVERYTHING } from './permission.ts';
import { type Tables, defaultTables, fixedTables, openTable } from './tables.ts';

const HEAD: RequestHead = { tenant: undefined, table: 'events', contentType: 'application/json' };

function refusalOf(head: Partial<RequestHead>, tables: Tables = defaultTables) {
  const admission = admit({ ...HEAD, ...head }, tables);
  if (admission.kind === 'admitted') throw new Error('admitted');
  const { status, body, headers } = admission.answer;
  expect(headers).toEqual({ 'Tidemark-Outcome': 'not-done' });
  return [status, JSON.parse(body).error];
}

test('ING-9: without settings there is tenant 0 with one open table events, whose id is event_id', () => {
  expect(defaultTables.tenants()).toEqual(['0']);
  expect(admit(HEAD, defaultTables)).toEqual({
    kind: 'admitted',
    tenant: '0',
    table: {
      name: 'events',
      idField: { text: 'event_id', path: ['event_id'] },
      entity: null,
      requireId: false,
      retentionMs: 0,
      ordered: false,
      schema: null,
      grants: null,
      timestamps: [],
    },
    permit: EVERYTHING,
    format: 'json',
  });
  expect(refusalOf({ table: 'orders' })).toEqual([404, 'unknown table: orders']);
});

test.each([undefined, '', [], ['']])('ING-9: an absent or empty tenant is tenant 0: %j', (tenant) => {
  expect(admit({ ...HEAD, tenant }, defaultTables)).toMatchObject({ kind: 'admitted', tenant: '0' });
});

test('ING-9: a named tenant gets its own tables and nothing of another', () => {
  const tables = fixedTables({ '0': [openTable('events')], 'acme-co_1': [openTable('orders')] });
  expect(admit({ ...HEAD, tenant: 'acme-co_1', table: 'orders' }, tables)).toMatchObject({ tenant: 'acme-co_1' });
  expect(refusalOf({ tenant: 'acme-co_1' }, tables)).toEqual([404, 'unknown table: events']);
  expect(refusalOf({ table: 'orders' }, tables)).toEqual([404, 'unknown table: orders']);
});

test('ING-1, ING-9: a tenant header sent twice is refused, also when both agree', () => {
  expect(refusalOf({ tenant: ['0', '0'] })).toEqual([400, 'invalid X-Tenant-ID: sent more than once']);
});

test.each(['a.b', 'a b', '0, 0', 'ä', '../0', '0\n', '%30', '*', '>'])(
  'ING-9, SEC-2: a malformed tenant is refused: %j',
  (tenant) => {
    const [status, error] = refusalOf({ tenant });
    expect(status).toBe(400);
    expect(error).toMatch(/^invalid X-Tenant-ID: /);
  },
);

test.each(['__proto__', 'constructor', 'toString'])('J14: %s is no tenant and no table by accident', (name) => {
  expect(refusalOf({ tenant: name })).toEqual([404, `unknown tenant: ${name}`]);
  expect(refusalOf({ table: name })).toEqual([404, `unknown table: ${name}`]);
});

test('ING-9: a tenant whose settings were never good is 503 without a detail', () => {
  const invalid: Tables = { tenants: () => ['0'], tenant: () => ({ kind: 'invalid' }) };
  expect(refusalOf({}, invalid)).toEqual([503, 'tenant settings are invalid']);
});

test.each([null, ''])('ING-1: a missing table is refused: %j', (table) => {
  expect(refusalOf({ table })).toEqual([400, 'missing table']);
});

test('ING-1: tenant, table and content type are judged in this order', () => {
  const bad = { tenant: 'nobody', table: null, contentType: 'text/plain' };
  expect(refusalOf(bad)[0]).toBe(404);
  expect(refusalOf({ ...bad, tenant: '0' })).toEqual([400, 'missing table']);
  expect(refusalOf({ ...bad, tenant: '0', table: 'orders' })).toEqual([404, 'unknown table: orders']);
  expect(refusalOf({ ...bad, tenant: '0', table: 'events' })[0]).toBe(415);
});
