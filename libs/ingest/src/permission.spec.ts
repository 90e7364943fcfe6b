import { JsonObject, readJson } from '@tidemark/libs-wire';
import { type CheckClause, EVERYTHING, type InsertGrant, additions, denial, permitOf } from './permission.ts';

const record = (text: string) => readJson(text) as JsonObject;
const grant = (role: string, more: Partial<InsertGrant> = {}): InsertGrant => ({
  role,
  columns: null,
  checks: [],
  ...more,
});
const fromClaim = (kind: 'eq' | 'in', ...path: string[]): CheckClause => ({
  column: 'c',
  kind,
  from: { kind: 'claim', path },
});
const literal = (value: string | number | boolean): CheckClause => ({
  column: 'c',
  kind: 'eq',
  from: { kind: 'literal', value },
});

/** Whether a sender of role `w` with these claims may insert the record, and what is added to it. */
function judge(text: string, check: CheckClause, claims: Record<string, unknown> = {}) {
  const permit = permitOf([grant('w', { checks: [check] })], { roles: ['w'], claims })!;
  const error = denial(record(text), permit)?.error ?? null;
  return { error, added: additions(record(text), permit).map(({ field, value }) => [field.text, value]) };
}

const REFUSED = { error: 'check failed for column "c"' };
const FITS = { error: null, added: [] };

test('ING-9: a table without grants takes anything of anybody, and so does a service that asks nobody who they are', () => {
  expect(permitOf(null, { roles: [], claims: {} })).toBe(EVERYTHING);
  expect(permitOf([grant('w')], null)).toBe(EVERYTHING);
  expect(denial(record('{"a":1}'), EVERYTHING)).toBeNull();
});

// kills: permission.ts: if (grant === undefined) return null; => if (grant === undefined) return EVERYTHING;
test('ING-9: who has none of the roles may insert nothing', () => {
  expect(permitOf([grant('w')], { roles: ['reader'], claims: {} })).toBeNull();
  expect(permitOf([grant('w')], { roles: [], claims: { role: 'w' } })).toBeNull();
});

test('ING-9: the first grant of the settings that names a role of the sender holds, alone', () => {
  const grants = [grant('narrow', { columns: new Set(['a']) }), grant('wide')];
  const columns = (...roles: string[]) => permitOf(grants, { roles, claims: {} })?.columns;
  expect(columns('wide')).toBeNull();
  expect(columns('wide', 'narrow')).toEqual(new Set(['a']));
});

test('ING-9: a column that the grant does not name is refused by its name, cut when it is long', () => {
  const permit = permitOf([grant('w', { columns: new Set(['a']) })], { roles: ['w'], claims: {} })!;
  expect(denial(record('{"a":{"b":1}}'), permit)).toBeNull();
  expect(denial(record('{"a":1,"b":2}'), permit)).toEqual({
    kind: 'column',
    error: 'column "b" not allowed for insert',
  });
  expect(denial(record(`{"${'é'.repeat(9999)}":1}`), permit)?.error.length).toBeLessThan(200);
  for (const name of ['__proto__', 'constructor'])
    expect(denial(record(`{"${name}":1}`), permit)?.error).toBe(`column "${name}" not allowed for insert`);
});

test('ING-9, #224: eq wants the very value, and adds it where it is absent', () => {
  expect(judge('{"c":"x"}', literal('x'))).toEqual(FITS);
  expect(judge('{}', literal('x'))).toEqual({ error: null, added: [['c', 'x']] });
  for (const other of ['"y"', 'null', '""', '1', 'true', '["x"]', '{"x":1}'])
    expect(judge(`{"c":${other}}`, literal('x'))).toEqual({ ...REFUSED, added: [] });
});

test('ING-9: values are compared by type and digits', () => {
  for (const same of ['1', '1.0', '1.00']) expect(judge(`{"c":${same}}`, literal(1))).toEqual(FITS);
  for (const other of ['"1"', 'true', '1e0', '1.0000000000000000001', '10'])
    expect(judge(`{"c":${other}}`, literal(1))).toMatchObject(REFUSED);
  expect(judge('{"c":9007199254740993}', literal(9007199254740992))).toMatchObject(REFUSED);
  expect(judge('{"c":true}', literal(true))).toEqual(FITS);
  expect(judge('{"c":"true"}', literal(true))).toMatchObject(REFUSED);
});

// kills: permission.ts: if (record.repeated.includes(column)) return false; => if (record.repeated.length > 9) return false;
test('ING-9, J10: a checked column that is given twice fails, also when the last one fits', () => {
  expect(judge('{"c":"other","c":"x"}', literal('x'))).toMatchObject(REFUSED);
});

test('ING-9: a value may come from a claim, also one inside of another', () => {
  expect(judge('{}', fromClaim('eq', 'org'), { org: 'acme' })).toEqual({ error: null, added: [['c', 'acme']] });
  expect(judge('{"c":"acme"}', fromClaim('eq', 'org', 'id'), { org: { id: 'acme' } })).toEqual(FITS);
  expect(judge('{"c":"eve"}', fromClaim('eq', 'org'), { org: 'acme' })).toMatchObject(REFUSED);
});

test.each([
  [{}],
  [{ org: null }],
  [{ org: '' }],
  [{ org: {} }],
  [{ org: ['acme'] }],
  [{ org: 2 ** 53 }],
  [{ org: NaN }],
])('ING-9, #224: eq with a claim that gives no value matches nothing and adds nothing: %j', (claims) => {
  for (const text of ['{}', '{"c":null}', '{"c":"acme"}', '{"c":""}', '{"c":9007199254740992}'])
    expect(judge(text, fromClaim('eq', 'org'), claims)).toEqual({ ...REFUSED, added: [] });
});

test('J14: a claim is what the sender has, not what every object inherits', () => {
  expect(judge('{}', fromClaim('eq', 'constructor', 'name'), {})).toMatchObject(REFUSED);
});

test('ING-9, #224: in wants one of the values, and a record must say which', () => {
  const regions = fromClaim('in', 'regions');
  expect(judge('{"c":"eu"}', regions, { regions: ['us', 'eu'] })).toEqual(FITS);
  expect(judge('{"c":"eu"}', regions, { regions: 'eu' })).toEqual(FITS);
  for (const text of ['{"c":"cn"}', '{}', '{"c":null}', '{"c":["eu"]}'])
    expect(judge(text, regions, { regions: ['us', 'eu'] })).toEqual({ ...REFUSED, added: [] });
});

// kills: permission.ts: return values.some((wanted) => => return values.length === 0 || values.some((wanted) =>
test.each([[{}], [{ regions: [] }], [{ regions: null }], [{ regions: [null, {}] }]])(
  'ING-9, #224: a set that is empty or cannot be told matches nothing: %j',
  (claims) => {
    expect(judge('{"c":"eu"}', fromClaim('in', 'regions'), claims)).toMatchObject(REFUSED);
  },
);

test('ING-9: several failed checks are told together', () => {
  const checks = [literal('x'), { ...literal('y'), column: 'd' }];
  const permit = permitOf([grant('w', { checks })], { roles: ['w'], claims: {} })!;
  expect(denial(record('{"c":1,"d":2}'), permit)).toEqual({
    kind: 'check',
    error: 'check failed for columns "c", "d"',
  });
});
