import { decodeEvent } from '@tidemark/libs-wire';
import { type PrepareContext, type Ready, type Rejected, prepare } from './prepare.ts';
import { openTable } from './tables.ts';

const CONTEXT: PrepareContext = {
  tenant: '0',
  table: openTable('clicks'),
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
      status: 400,
      error: 'missing dedupe id field "event_id"',
      missingId: true,
    });
  },
);

test.each([
  ['{"event_id":["a"]}', 'dedupe id field "event_id": an array is no id'],
  ['{"event_id":{}}', 'dedupe id field "event_id": an object is no id'],
  ['{"event_id":"a","event_id":"b"}', 'dedupe id field "event_id" is given twice'],
  ['{"event_id":"a","event_id":"a"}', 'dedupe id field "event_id" is given twice'],
  ['{"event_id":"a","event\\u005fid":null}', 'dedupe id field "event_id" is given twice'],
])('ING-7, J10: an id that names no one thing is refused: %s', (text, error) => {
  expect(rejected(text)).toMatchObject({ status: 400, error, missingId: false });
});

test('ING-9: the id field is the table’s own, also one with an odd name', () => {
  const table = { ...openTable('t'), idField: '__proto__' };
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

// kills: prepare.ts: ...(context.traceparent !== undefined && { traceparent: context.traceparent }), => ...{},
test('OPS-1: the event carries the trace of its request, and without one not a byte for it', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  expect(decodeEvent(ready('{"event_id":"e"}', { traceparent }).body).traceparent).toBe(traceparent);
  expect(new TextDecoder().decode(ready('{"event_id":"e"}').body)).not.toContain('trace');
});
