import { type JsonObject, readJson } from '@tidemark/libs-wire';
import { memberField } from '../field.ts';
import { compileSchema } from './compile.ts';

function compiled(document: object | boolean) {
  const outcome = compileSchema(document);
  if (outcome.kind === 'refused') throw new Error(outcome.reason);
  return outcome.schema;
}
const verdict = (document: object | boolean, text: string) =>
  compiled(document).judge(readJson(text) as JsonObject, []);
const error = (document: object | boolean, text: string) => verdict(document, text)?.error ?? null;
const member = (schema: object, value: string) => error({ properties: { a: schema } }, `{"a":${value}}`);

test('ING-9: a record that fits has no verdict, one that does not is told the path and the rule', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'string' }, a: { properties: { b: { type: 'integer' } } } },
    additionalProperties: false,
  };
  expect(verdict(schema, '{"id":"x","a":{"b":1}}')).toBeNull();
  expect(verdict(schema, '{"id":"x","a":{"b":"1"}}')).toEqual({ kind: 'schema', error: '/a/b: must be integer' });
  expect(error(schema, '{}')).toBe("the record: must have required property 'id'");
  expect(error(schema, '{"id":"x","nope":1}')).toBe('the record: must NOT have additional properties: "nope"');
});

test('SEC-2: a verdict holds no value of the record, and is short', () => {
  const secret = 'secret-value';
  for (const schema of [
    { type: 'integer' },
    { const: 1 },
    { enum: ['a'] },
    { pattern: '^x' },
    { maxLength: 1 },
    { format: 'uuid' },
  ])
    expect(member(schema, `"${secret}"`)).not.toContain(secret);
  const long = 'k'.repeat(100_000);
  expect(error({ additionalProperties: { type: 'string' } }, `{"${long}":1}`)!.length).toBeLessThan(1000);
  expect(error({ additionalProperties: false }, `{"${long}":1}`)!.length).toBeLessThan(1000);
});

test('J8: an integer beyond 2^53 is an integer, and one with a fraction is none', () => {
  for (const whole of ['9007199254740993', '-9223372036854775808', '1.0', '1e2'])
    expect(member({ type: 'integer' }, whole)).toBeNull();
  expect(member({ type: 'integer' }, '1.5')).toBe('/a: must be integer');
  expect(member({ type: 'number' }, '1e400')).toBe('/a: must be number');
  expect(member({ maximum: 10 }, '9007199254740993')).toBe('/a: must be <= 10');
});

test.each(['constructor', 'toString', 'valueOf', '__proto__', 'hasOwnProperty'])(
  'J14, SEC-2: %s is a member like any other to every keyword',
  (name) => {
    const has = `{"${name}":1}`;
    expect(error({ required: [name] }, '{}')).toBe(`the record: must have required property '${name}'`);
    expect(error({ required: [name] }, has)).toBeNull();
    expect(error({ additionalProperties: false }, has)).toContain(`"${name}"`);
    expect(
      error({ properties: { a: true }, patternProperties: { '^x': true }, additionalProperties: false }, has),
    ).not.toBeNull();
    const dynamic = { anyOf: [{ properties: { a: true }, required: ['a'] }, { properties: { b: true } }] };
    expect(error({ ...dynamic, unevaluatedProperties: false }, `{"a":1,"b":1}`)).toBeNull();
    expect(error({ ...dynamic, unevaluatedProperties: false }, `{"a":1,"${name}":1}`)).toContain(`"${name}"`);
    expect(member({ uniqueItems: true }, `[${has},{"${name}":2}]`)).toBeNull();
    expect(member({ uniqueItems: true }, `[${has},${has}]`)).toBe('/a: must NOT have duplicate items');
    expect(member({ const: { b: 1 } }, has)).toBe('/a: must be equal to constant');
    expect(member({ enum: [JSON.parse(has) as object] }, has)).toBeNull();
  },
);

test('const, enum and uniqueItems compare by value: members in any order, numbers by their double', () => {
  expect(member({ const: { x: 1, y: [2] } }, '{"y":[2.0],"x":1}')).toBeNull();
  expect(member({ enum: ['a', 1, null] }, 'null')).toBeNull();
  expect(member({ enum: ['a', 1, null] }, '"1"')).toBe('/a: must be equal to one of the allowed values');
  expect(member({ const: null }, '1e400')).toBe('/a: must be equal to constant');
  expect(member({ const: 0 }, '-0')).toBeNull();
  expect(member({ uniqueItems: false }, '[1,1]')).toBeNull();
});

// kills: compile.ts: if (!(thrown instanceof RepeatedMember)) throw thrown; => return null;
test('J10: a member given twice is refused wherever it stands, since a schema judges one of the two', () => {
  expect(verdict({}, '{"a":{"b":1,"b":"x"}}')).toEqual({ kind: 'repeated', error: 'member "b" is given twice' });
});

test('ING-9: the values that a permit adds are judged as if they had been sent', () => {
  const schema = compiled({ required: ['org'], properties: { org: { type: 'string' } } });
  const record = readJson('{}') as JsonObject;
  expect(schema.judge(record, [])?.error).toContain("'org'");
  expect(schema.judge(record, [{ field: memberField('org'), value: 'acme' }])).toBeNull();
  expect(schema.judge(record, [{ field: memberField('org'), value: 1 }])?.error).toBe('/org: must be string');
});

test.each([
  [{ tpye: 'object' }, /unknown keyword: "tpye"/],
  [{ properties: { a: { maxLenght: 1 } } }, /unknown keyword: "maxLenght"/],
  [{ type: 'strng' }, /must be equal to one of the allowed values/],
  [{ format: 'phone' }, /unknown format "phone"/],
  [{ pattern: '(' }, /Invalid regular expression/],
  [{ $ref: 'http://elsewhere/schema' }, /can't resolve reference/],
  [{ $schema: 'http://json-schema.org/draft-07/schema#' }, /no schema with key or ref/],
  [{ required: 'a' }, /required must be array/],
])('ING-9, #460: a rule that is mistyped is refused, not off in silence: %j', (document, reason) => {
  expect(compileSchema(document)).toMatchObject({ kind: 'refused', reason: expect.stringMatching(reason) });
});

test.each([
  [
    'date-time',
    ['2026-11-30T01:02:03Z', '2026-11-30t01:02:03.5+01:00'],
    ['2026-11-30 01:02:03Z', '2026-11-30T01:02:03', 'x'],
  ],
  ['date', ['2024-02-29'], ['2026-02-29', '2026-2-1', '']],
  ['time', ['01:02:03Z'], ['25:00:00Z', '01:02:03']],
  ['uuid', ['0190f8b4-7d6e-7c7a-9d3e-5f1e2d3c4b5a'], ['0190f8b4', 'g190f8b4-7d6e-7c7a-9d3e-5f1e2d3c4b5a']],
  ['ipv4', ['1.2.3.255'], ['1.2.3', '1.2.3.256', '1.2.3.4.', '01.2.3.4567']],
  ['ipv6', ['::1', '2001:db8::1', '::ffff:1.2.3.4'], ['1', ':::', '1.2.3.4', '[::1]']],
  ['email', ['a@b.c', 'a+b@localhost'], ['a@', '@b', 'a b@c', 'a@b..c']],
  ['hostname', ['a-b.example'], ['-a', 'a_b', 'a..b', '']],
  ['uri', ['https://a/b?c#d', 'urn:x:y'], ['/a', 'a b', 'http://a b']],
])('ING-9: format %s', (format, good, bad) => {
  for (const text of good) expect([text, member({ format }, JSON.stringify(text))]).toEqual([text, null]);
  for (const text of bad)
    expect([text, member({ format }, JSON.stringify(text))]).toEqual([text, `/a: must match format "${format}"`]);
});

test('ING-9: equal schemas have one hash, other schemas another', () => {
  const hash = (document: object | boolean) => compiled(document).hash;
  expect(hash({ type: 'object', minProperties: 1 })).toBe(hash({ minProperties: 1, type: 'object' }));
  expect(hash({ type: 'object' })).not.toBe(hash(true));
});

test('J7: a record as deep as the reader takes is judged by a schema that is endless', () => {
  const schema = { properties: { a: { $ref: '#' } }, additionalProperties: false };
  expect(error(schema, `${'{"a":'.repeat(511)}{}${'}'.repeat(511)}`)).toBeNull();
});

test('SEC-2: a large array is compared in a time that grows with its length', () => {
  const items = Array.from({ length: 50_000 }, (_, i) => `{"i":${i}}`).join(',');
  expect(member({ uniqueItems: true }, `[${items}]`)).toBeNull();
});

// kills: compile.ts: if (thrown instanceof RangeError) return => if (thrown instanceof TypeError) return
test('SEC-2: a schema without an end is refused; one without an end for some record refuses that record alone', () => {
  const endless = 'the schema refers to itself without end';
  const loop = { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' };
  for (const schema of [{ $ref: '#' }, { anyOf: [{ $ref: '#' }] }, loop])
    expect(compileSchema(schema)).toEqual({ kind: 'refused', reason: endless });
  const atTimes = { if: { required: ['x'] }, then: { $ref: '#' } };
  expect(error(atTimes, '{"x":1}')).toBe(`the record: ${endless}`);
  expect(error(atTimes, '{"y":1}')).toBeNull();
  const tree = { type: 'object', additionalProperties: { $ref: '#' } };
  expect(error(tree, `${'{"a":'.repeat(500)}{}${'}'.repeat(500)}`)).toBeNull();
});

test('SEC-2: no record keeps a pattern busy, wherever the schema has it; what one pass cannot judge is refused', () => {
  const slow = '^(a+)+$';
  const text = `${'a'.repeat(50)}!`;
  expect(member({ pattern: slow }, `"${text}"`)).toBe('/a: must match pattern "^(a+)+$"');
  expect(member({ pattern: slow }, '"aaaa"')).toBeNull();
  expect(error({ patternProperties: { [slow]: false } }, `{"${text}":1}`)).toBeNull();
  expect(error({ patternProperties: { [slow]: false, '^b': true } }, '{"aa":1}')).not.toBeNull();
  expect(error({ propertyNames: { pattern: slow } }, `{"${text}":1}`)).not.toBeNull();
  for (const pattern of ['(?=a)', '(a)\\1', '(', 'a{9000}'])
    expect(compileSchema({ properties: { a: { pattern } } })).toMatchObject({ kind: 'refused' });
});
