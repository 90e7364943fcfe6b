import { type SchemaCompiler, loadSchemaCompiler } from '@tidemark/libs-ingest';
import type { TenantFiles } from './settings-folder.ts';
import { parseTenant } from './tenant-settings.ts';

const files = (texts: Record<string, unknown>): TenantFiles =>
  new Map(
    Object.entries({ 'tenant.json': {}, ...texts }).map(([name, content]) => [
      name,
      { kind: 'text', text: typeof content === 'string' ? content : JSON.stringify(content) },
    ]),
  );
let compiler: SchemaCompiler;
beforeAll(async () => {
  compiler = await loadSchemaCompiler();
});

const RULES = { retentionMsMin: 120_000, compileSchema: (document: object | boolean) => compiler(document) };
const parse = (texts: Record<string, unknown>, tenant = 'acme') => parseTenant(tenant, files(texts), RULES);

function good(texts: Record<string, unknown>) {
  const parsed = parse(texts);
  if (parsed.kind === 'bad') throw new Error(parsed.problems.join('\n'));
  return parsed.settings;
}
function problems(texts: Record<string, unknown>, tenant?: string) {
  const parsed = parse(texts, tenant);
  return parsed.kind === 'bad' ? parsed.problems : [];
}
const table = (settings: object) => good({ 'tables/t.json': settings }).tables.get('t')!;
const wrong = (settings: unknown) => problems({ 'tables/t.json': settings });

test('ING-9: an empty table file is an open table, an empty tenant file the usual budget', () => {
  const { budget, tables } = good({ 'tables/t.json': {} });
  expect(budget).toBeNull();
  expect(tables.get('t')).toMatchObject({
    name: 't',
    idField: { path: ['event_id'] },
    entity: null,
    requireId: false,
    retentionMs: 0,
    ordered: false,
    schema: null,
    grants: null,
    timestamps: [],
  });
});

test('ING-9: every setting of a table is taken', () => {
  const settings = table({
    id_field: '/meta/id',
    require_id: true,
    entity: '/user/id',
    retention: '7d',
    ordered: true,
    timestamps: ['at', { field: '/meta/ts', epoch: 'ms' }],
    schema: { type: 'object', required: ['at'] },
    grants: {
      writer: {
        insert: true,
        columns: ['at', 'org', 'region'],
        check: { org: { eq: { claim: '/org/id' } }, region: { in: ['eu', 'us'] } },
      },
      reader: { insert: false },
    },
  });
  expect(settings).toMatchObject({
    idField: { text: '/meta/id', path: ['meta', 'id'] },
    entity: { path: ['user', 'id'] },
    requireId: true,
    retentionMs: 7 * 86_400_000,
    ordered: true,
    timestamps: [
      { path: ['at'], epoch: null },
      { path: ['meta', 'ts'], epoch: 'ms' },
    ],
    grants: [
      {
        role: 'writer',
        columns: new Set(['at', 'org', 'region']),
        checks: [
          { column: 'org', kind: 'eq', from: { kind: 'claim', path: ['org', 'id'] } },
          { column: 'region', kind: 'in', from: { kind: 'literal', value: ['eu', 'us'] } },
        ],
      },
    ],
  });
  expect(settings.schema?.hash).toMatch(/^[0-9a-f]{16}$/);
});

test('ING-9: the budget is bytes', () => {
  expect(good({ 'tenant.json': { budget: 1048576 } }).budget).toBe(1048576n);
  for (const budget of [0, -1, 1.5, '1 GiB', null, 2 ** 60])
    expect(problems({ 'tenant.json': { budget } })).toEqual([expect.stringMatching(/^tenant\.json: budget: /)]);
});

test.each([
  [{ id_filed: 'x' }, 'id_filed: unknown member'],
  [{ id_field: '' }, 'id_field: must be a member, or a JSON pointer to one'],
  [{ id_field: '/a~2' }, 'id_field: must be a member, or a JSON pointer to one'],
  [{ id_field: null }, 'id_field: '],
  [{ entity: 7 }, 'entity: '],
  [{ require_id: 'yes' }, 'require_id: '],
  [{ retention: '1m' }, 'retention: must be at least 120s, for which the queue drops repeats'],
  [{ retention: '0' }, 'retention: must be "forever"'],
  [{ retention: 600 }, 'retention: '],
  [{ retention: '9999999999d' }, 'retention: must be at most 36500d'],
  [{ timestamps: 'at' }, 'timestamps: '],
  [{ timestamps: ['at', '/at'] }, 'timestamps: a field is named twice'],
  [{ timestamps: [{ field: 'at', epoch: 'min' }] }, 'timestamps[0]: must be a member'],
  [{ schema: 'string' }, 'schema: must be a JSON Schema'],
  [{ schema: { tpye: 'object' } }, 'schema: strict mode: unknown keyword: "tpye"'],
  [{ grants: {} }, 'grants: must name a role'],
  [{ grants: { 'a role': { insert: true } } }, 'grants.a role: '],
  [{ grants: { w: {} } }, 'grants.w.insert: '],
  [{ grants: { w: { insert: true, column: ['a'] } } }, 'grants.w.column: unknown member'],
  [{ grants: { w: { insert: true, columns: [] } } }, 'grants.w.columns: '],
  [{ grants: { w: { insert: true, check: {} } } }, 'grants.w.check: must name a column'],
  [{ grants: { w: { insert: true, check: { c: {} } } } }, 'grants.w.check.c: must be either eq or in'],
  [
    { grants: { w: { insert: true, check: { c: { eq: 'a', in: ['a'] } } } } },
    'grants.w.check.c: must be either eq or in',
  ],
  [{ grants: { w: { insert: true, check: { c: { _eq: 'a' } } } } }, 'grants.w.check.c._eq: unknown member'],
  [
    { grants: { w: { insert: true, check: { c: { eq: '' } } } } },
    'grants.w.check.c.eq: must be a text that is not empty',
  ],
  [{ grants: { w: { insert: true, check: { c: { eq: null } } } } }, 'grants.w.check.c.eq: '],
  [{ grants: { w: { insert: true, check: { c: { eq: 2 ** 53 } } } } }, 'grants.w.check.c.eq: '],
  [{ grants: { w: { insert: true, check: { c: { eq: { claims: 'a' } } } } } }, 'grants.w.check.c.eq: '],
  [
    { grants: { w: { insert: true, check: { c: { in: [] } } } } },
    'grants.w.check.c.in: must be a list of values that is not empty',
  ],
  [{ grants: { w: { insert: true, check: { c: { in: ['a', {}] } } } } }, 'grants.w.check.c.in: '],
  [
    { grants: { w: { insert: true, columns: ['a'], check: { c: { in: ['x'] } } } } },
    'grants.w.check.c: must be among the columns',
  ],
  [{ grants: { w: { insert: false, columns: ['a'] } } }, 'grants.w: columns and check have no effect without insert'],
  [[], ': '],
  ['null', ': '],
  [
    '{"schema":{"properties":{"__proto__":{"type":"string"}}}}',
    'schema.properties.__proto__: no rule can have this name',
  ],
  [
    '{"grants":{"w":{"insert":true,"check":{"__proto__":{"eq":1}}}}}',
    'grants.w.check.__proto__: no rule can have this',
  ],
  ['{"ordered":true,"ordered":false}', 'ordered: is given twice'],
  ['{"schema":{"properties":{"a":{"type":"string","type":"integer"}}}}', 'schema.properties.a.type: is given twice'],
  ['{"ordered":true', 'invalid json: '],
  ['', 'invalid json: '],
])(
  'ING-9, #460: a rule that is mistyped or empty is refused by file and path, never off in silence: %j',
  (settings, problem) => {
    const [first = ''] = wrong(settings);
    expect(first).toMatch(/^tables\/t\.json: /);
    expect(first).toContain(problem);
  },
);

test('ING-9: all problems of all files are told together', () => {
  const all = problems({
    'tenant.json': { bugdet: 1 },
    'tables/a.json': { ordered: 1, retention: '1s' },
    'tables/b.json': '{',
    'table/c.json': {},
    'notes.txt': 'x',
  });
  expect(all.map((problem) => problem.split(': ')[0]).sort()).toEqual(
    ['notes.txt', 'table/c.json', 'tables/a.json', 'tables/a.json', 'tables/b.json', 'tenant.json'].sort(),
  );
});

test('ING-9: a tenant has a tenant.json and a name', () => {
  expect(parseTenant('acme', new Map(), RULES)).toEqual({
    kind: 'bad',
    problems: ['tenant.json: is missing; {} is enough'],
  });
  expect(problems({}, 'a.b')).toEqual([expect.stringContaining('the folder: ')]);
});

test('ING-9, #235: a table of any name has one file name', () => {
  const { tables } = good({ 'tables/t%2Es.json': {}, 'tables/%C3%A9.json': {}, 'tables/a-b_1.json': {} });
  expect([...tables.keys()]).toEqual(['t.s', 'é', 'a-b_1']);
  expect(problems({ 'tables/t.s.json': {} })).toEqual(['tables/t.s.json: must be named tables/t%2Es.json']);
  expect(problems({ 'tables/t%2es.json': {} })).toEqual(['tables/t%2es.json: must be named tables/t%2Es.json']);
  expect(problems({ 'tables/.json': {} })).toEqual(['tables/.json: a table has a name']);
});

test('J1: a byte order mark at the start of a settings file is passed over', () => {
  expect(table('\uFEFF{"require_id":true}' as unknown as object).requireId).toBe(true);
});
