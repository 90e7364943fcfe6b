import { decodeEvent } from '@tidemark/libs-wire';
import { memberField, parseField } from './field.ts';
import { EVERYTHING, permitOf } from './permission.ts';
import { type PrepareContext, type Ready, type Rejected, prepare } from './prepare.ts';
import { type RecordSchema, type TableSettings, openTable } from './tables.ts';

const CONTEXT: PrepareContext = {
  tenant: '0',
  table: openTable('clicks'),
  permit: EVERYTHING,
  receivedTimestamp: '2026-11-30T01:02:03.004Z',
  bodyBytesMax: 1_000_000,
};

const run = (text: string, context: Partial<PrepareContext> = {}) =>
  prepare({ kind: 'text', text }, { ...CONTEXT, ...context });

function ready(text: string, context?: Partial<PrepareContext>): Ready {
  const prepared = run(text, context);
  if (prepared.kind === 'rejected') throw new Error(prepared.error);
  return prepared;
}

function rejected(text: string, context?: Partial<PrepareContext>): Rejected {
  const prepared = run(text, context);
  if (prepared.kind === 'ready') throw new Error('accepted');
  return prepared;
}

const idOf = (member: string) => ready(`{"event_id":${member}}`).key?.id ?? null;

test('ING-1: the event carries the table, the time of arrival, the id and the record as received', () => {
  const { body, key, idempotencyKey } = ready('{"event_id":"e1","n":1}', { table: openTable('clicks') });
  expect(decodeEvent(body)).toEqual({
    table: 'clicks',
    receivedTimestamp: '2026-11-30T01:02:03.004Z',
    id: 'e1',
    entity: null,
    data: '{"event_id":"e1","n":1}',
  });
  expect(key).toEqual({ tenant: '0', table: 'clicks', id: 'e1' });
  expect(idempotencyKey).toBe('5818e1b1957c8c770ae201937efadac7');
});

test.each([
  '{"big":9007199254740993,"f":1.0,"e":1E400,"z":-0}',
  '{ "a" : [ 1 , 2 ] }',
  '{"a":"\\u0041\\/","a":"twice"}',
  '{"s":"\u2028\u2029é😀"}',
  '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}',
  '{"nul":"\\u0000"}',
])('J8, J10, J14, RLY-2: the record travels with every byte as it came: %s', (text) => {
  const { body } = ready(`\t ${text} \r`);
  expect(Buffer.from(body).toString('utf8').endsWith(`,"data":${text}}`)).toBe(true);
  expect(decodeEvent(body).data).toBe(text);
  expect(({} as Record<string, unknown>)['x'] ?? ({} as Record<string, unknown>)['y']).toBeUndefined();
});

test('ING-7, J8: an id is the text of a string, the digits of a number, the word of a boolean', () => {
  expect(idOf('"x"')).toBe('x');
  expect(idOf('"\\u0078"')).toBe('x');
  expect(idOf('"a\\u0000b/😀"')).toBe('a\u0000b/😀');
  expect(idOf('9007199254740993')).toBe('9007199254740993');
  expect(idOf('9007199254740992')).toBe('9007199254740992');
  expect(idOf('true')).toBe('true');
  expect(idOf('"true"')).toBe('true');
});

test('ING-7: 1 and "1" are one id, 1 and 1.0 two', () => {
  expect(idOf('1')).toBe(idOf('"1"'));
  expect(idOf('1')).not.toBe(idOf('1.0'));
  expect(idOf('1e0')).not.toBe(idOf('1'));
});

test('J13: ids that look alike and differ in bytes stay two', () => {
  expect(idOf('"\u00e9"')).not.toBe(idOf('"e\u0301"'));
});

test.each(['{}', '{"event_id":null}', '{"event_id":""}', '{"EVENT_ID":"x"}', '{"a":{"event_id":"x"}}'])(
  'ING-7, I14: no id, null and the empty text are no id: %s',
  (text) => {
    const { key, idempotencyKey, body } = ready(text);
    expect([key, idempotencyKey, decodeEvent(body).id]).toEqual([null, null, null]);
    const requireId = { table: { ...openTable('clicks'), requireId: true } };
    expect(rejected(text, requireId)).toEqual({
      kind: 'rejected',
      reason: 'missing_id',
      status: 400,
      error: 'missing dedupe id field "event_id"',
    });
  },
);

test.each([
  ['{"event_id":["a"]}', 'dedupe id field "event_id": an array is no id', 'id'],
  ['{"event_id":{}}', 'dedupe id field "event_id": an object is no id', 'id'],
  ['{"event_id":"a","event_id":"b"}', 'dedupe id field "event_id" is given twice', 'repeated'],
  ['{"event_id":"a","event_id":"a"}', 'dedupe id field "event_id" is given twice', 'repeated'],
  ['{"event_id":"a","event\\u005fid":null}', 'dedupe id field "event_id" is given twice', 'repeated'],
])('ING-7, J10: an id that names no one thing is refused: %s', (text, error, reason) => {
  expect(rejected(text)).toMatchObject({ status: 400, error, reason });
});

test('ING-9: the id field is the table’s own, also one with an odd name', () => {
  const table = { ...openTable('t'), idField: memberField('__proto__') };
  expect(ready('{"__proto__":"p"}', { table }).key?.id).toBe('p');
  expect(ready('{"event_id":"e"}', { table }).key).toBeNull();
});

test.each(['[1]', '"x"', '1', 'null', 'true', '[]'])('ING-1: a record that is no object is refused: %s', (text) => {
  expect(rejected(text)).toMatchObject({ status: 400, error: 'a record must be a json object' });
});

test.each([
  '{"a":1},',
  '{}{}',
  '{"a":1}{"b":2}',
  '{"a":',
  "{'a':1}",
  '\uFEFF{}',
  '{"a":"\\ud800"}',
  '{"\\udc00":1}',
  '',
  'NaN',
])('ING-11, J7, J11: a record that is no JSON text is refused: %j', (text) => {
  const { status, error } = rejected(text);
  expect(status).toBe(400);
  expect(error).toMatch(/^invalid json: /);
});

test('J7: 100,000 open brackets are refused at the bound on depth', () => {
  expect(rejected('['.repeat(100_000)).error).toMatch(/^invalid json: nested deeper than 512/);
  expect(rejected(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`).error).toMatch(/nested deeper than 512/);
});

test('ING-11b, I16: a record whose event is larger than the queue takes is refused here, one byte less is not', () => {
  const text = `{"event_id":"e","s":"${'é'.repeat(500)}"}`;
  const size = ready(text).body.length;
  expect(ready(text, { bodyBytesMax: size }).body.length).toBe(size);
  expect(rejected(text, { bodyBytesMax: size - 1 })).toMatchObject({
    status: 413,
    error: `the record's event of ${size} bytes exceeds the queue's limit of ${size - 1}`,
  });
});

test('ING-11: an unreadable line keeps its reason', () => {
  expect(prepare({ kind: 'unreadable', error: 'why' }, CONTEXT)).toMatchObject({ status: 400, error: 'why' });
});

// kills: prepare.ts: ...(traceparent !== undefined && { traceparent }), => ...{},
test('OPS-1: the event carries the trace of its request, and without one not a byte for it', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  expect(decodeEvent(ready('{"event_id":"e"}', { traceparent }).body).traceparent).toBe(traceparent);
  expect(new TextDecoder().decode(ready('{"event_id":"e"}').body)).not.toContain('trace');
});

describe('ING-9: a table with rules', () => {
  const field = (text: string) => parseField(text)!;
  const rules = {
    ...openTable('clicks'),
    idField: field('/meta/id'),
    entity: field('/user'),
    timestamps: [
      { ...field('at'), epoch: null },
      { ...field('/meta/ts'), epoch: 'ms' as const },
    ],
  };
  const permit = permitOf(
    [{ role: 'w', columns: null, checks: [{ column: 'org', kind: 'eq', from: { kind: 'claim', path: ['org'] } }] }],
    { roles: ['w'], claims: { org: 'acme' } },
  )!;
  const event = (text: string, table: TableSettings = rules) => decodeEvent(ready(text, { table, permit }).body);

  test('J8: times are brought to one spelling and columns are added; all else keeps each byte', () => {
    const text = '{ "meta":{"id":9007199254740993,"ts":1732924800007}, "at" : "2026-11-30 01:02:03+01:00", "n":1.0 }';
    expect(event(text).data).toBe(
      '{ "meta":{"id":9007199254740993,"ts":"2024-11-30T00:00:00.007Z"}, "at" : "2026-11-30T00:02:03Z", "n":1.0,"org":"acme"}',
    );
    expect(event(text)).toMatchObject({ id: '9007199254740993', entity: null });
  });

  test('#372: a time that cannot be read, or is in the one spelling already, passes as it came', () => {
    for (const at of ['"yesterday"', 'null', '17', '{"x":1}', '"2026-11-30T00:02:03Z"']) {
      const text = `{"at":${at},"org":"acme"}`;
      expect(event(text).data).toBe(text);
    }
  });

  test('an id or entity that a rule changes is taken as it was changed', () => {
    const table = { ...rules, idField: field('at'), entity: field('org') };
    expect(event('{"at":"2026-11-30 01:02:03"}', table)).toMatchObject({ id: '2026-11-30T01:02:03Z', entity: 'acme' });
  });

  test('the entity is the text of its value; without one it is the id', () => {
    expect(event('{"user":7}').entity).toBe('7');
    for (const none of ['{}', '{"user":null}', '{"user":""}']) expect(event(none).entity).toBeNull();
    expect(rejected('{"user":["a"]}', { table: rules })).toMatchObject({
      status: 400,
      reason: 'entity',
      error: 'entity field "/user": an object or array names nothing',
    });
  });

  test.each([
    ['{"meta":{"id":1,"id":2}}', 'dedupe id field "/meta/id" is given twice'],
    ['{"meta":{"id":1},"meta":{"id":1}}', 'timestamp field "/meta/ts" is given twice'],
    ['{"at":"x","at":"y"}', 'timestamp field "at" is given twice'],
    ['{"user":1,"user":1}', 'entity field "/user" is given twice'],
  ])('J10: a field that a rule reads is refused when it is given twice: %s', (text, error) => {
    expect(rejected(text, { table: rules })).toMatchObject({ status: 400, reason: 'repeated', error });
  });

  test('ING-4: schema, permit, id and size are judged in this order, and the first to refuse is told', () => {
    const schema: RecordSchema = {
      hash: 'h',
      judge: (record) => (record.members.has('bad') ? { kind: 'schema', error: '/bad: must not be' } : null),
    };
    const context = { table: { ...rules, requireId: true, schema }, permit, bodyBytesMax: 90 };
    const large = '"s":"xxxxxxxxxxxxxxxxxxxx"';
    const reasons = [
      `{"bad":1,"org":"eve",${large}}`,
      `{"org":"eve",${large}}`,
      `{"org":"acme",${large}}`,
      `{"meta":{"id":1},${large}}`,
    ].map((text) => rejected(text, context).reason);
    expect(reasons).toEqual(['schema', 'check', 'missing_id', 'too_large']);
    expect(rejected('{"org":"eve"}', context)).toMatchObject({ status: 403, error: 'check failed for column "org"' });
  });

  test('SEC-2: a record that is too large by its text alone is refused before it is read', () => {
    expect(rejected(`{"s":"${'é'.repeat(100)}"`, { bodyBytesMax: 100 })).toMatchObject({
      status: 413,
      error: "the record's event of 207 bytes exceeds the queue's limit of 100",
    });
  });
});
