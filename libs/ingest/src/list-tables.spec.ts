import { type TablesRequest, listTables } from './list-tables.ts';
import { memberField } from './field.ts';
import { type Tables, fixedTables, openTable } from './tables.ts';

const TABLES = fixedTables({
  '0': [
    openTable('open'),
    {
      ...openTable('closed'),
      idField: memberField('id'),
      requireId: true,
      retentionMs: 3_600_000,
      ordered: true,
      schema: { hash: 'abc', judge: () => null },
      grants: [{ role: 'w', columns: null, checks: [] }],
    },
  ],
});

function list(request: Partial<TablesRequest> = {}, tables: Tables = TABLES) {
  const answer = listTables({ tenant: undefined, mayReach: () => true, ...request }, tables);
  return { status: answer.status, body: JSON.parse(answer.body) };
}
const names = (request: Partial<TablesRequest>) => list(request).body.tables.map(({ name }: { name: string }) => name);

test('ING-9: the tables of a tenant are told in order of their names, with what a producer must know', () => {
  expect(list()).toEqual({
    status: 200,
    body: {
      tables: [
        { name: 'closed', id_field: 'id', require_id: true, retention_secs: 3600, ordered: true, schema_hash: 'abc' },
        {
          name: 'open',
          id_field: 'event_id',
          require_id: false,
          retention_secs: null,
          ordered: false,
          schema_hash: null,
        },
      ],
    },
  });
});

// kills: list-tables.ts: mayReach(tenant, name) && => true &&
test('ING-9, SEC-1: a caller is told the tables that it may insert into, and no others', () => {
  expect(names({ sender: { roles: [], claims: {} } })).toEqual(['open']);
  expect(names({ sender: { roles: ['w'], claims: {} } })).toEqual(['closed', 'open']);
  expect(names({ mayReach: (tenant, table) => tenant === '0' && table === 'closed' })).toEqual(['closed']);
  expect(names({ mayReach: () => false })).toEqual([]);
});

test('ING-9: a tenant that is not served is refused as everywhere', () => {
  expect(list({ tenant: 'acme' })).toEqual({ status: 404, body: { error: 'unknown tenant: acme' } });
  expect(list({ tenant: ['0', '0'] })).toMatchObject({ status: 400 });
  expect(list({}, { tenants: () => ['0'], tenant: () => ({ kind: 'invalid' }) })).toEqual({
    status: 503,
    body: { error: 'tenant settings are invalid' },
  });
});
