import fc from 'fast-check';
import { JSON_DEPTH_MAX } from '@tidemark/libs-kernel';
import { anyBlanks, anyJson, anyKey, anyText, bytesOf, refusal, spaced } from './arbitraries.ts';
import { decodeEvent, encodeEvent } from './event.ts';
import { idText } from './id-text.ts';
import { JsonNumber, JsonObject } from './json-value.ts';
import { readJson } from './json-read.ts';

const anyRecord = fc.tuple(anyKey, anyJson, anyBlanks).map(([key, value, blanks]) => {
  return spaced(new JsonObject(new Map([[key, value]])), blanks).trim();
});

describe('event envelope', () => {
  test('ING-1: an event is one compact object with data last', () => {
    const event = {
      table: 'clicks',
      receivedTimestamp: '2026-11-30T01:02:03.123Z',
      id: 'e"1',
      entity: 'u',
      data: '{"a": 1.0}',
    };
    expect(new TextDecoder().decode(encodeEvent(event))).toBe(
      '{"table_name":"clicks","received_timestamp":"2026-11-30T01:02:03.123Z","id":"e\\"1","entity":"u","data":{"a": 1.0}}',
    );
    expect(new TextDecoder().decode(encodeEvent({ ...event, id: null, entity: null }))).toBe(
      '{"table_name":"clicks","received_timestamp":"2026-11-30T01:02:03.123Z","data":{"a": 1.0}}',
    );
  });

  test('RLY-2: any event comes back, its record text unit for unit', () => {
    const anyEvent = fc.record({
      table: anyText,
      receivedTimestamp: anyText,
      id: fc.option(anyText),
      entity: fc.option(anyText),
      data: anyRecord,
    });
    fc.assert(fc.property(anyEvent, (event) => expect(decodeEvent(encodeEvent(event))).toEqual(event)));
  });

  test('RLY-2: a record nested as deep as one may be fits into its envelope', () => {
    const inner = JSON_DEPTH_MAX - 1;
    const data = `{"a":${'['.repeat(inner)}${']'.repeat(inner)}}`;
    const event = { table: 't', receivedTimestamp: 'r', id: null, entity: null, data };
    expect(refusal(() => readJson(data))).toBe('accepted');
    expect(decodeEvent(encodeEvent(event))).toEqual(event);
  });

  test('ING-1: unknown members are ignored and members may come in any order', () => {
    const text = '{"data":{"x":1},"scope":"","received_timestamp":"t","extra":[{"data":2}],"table_name":"a"}';
    expect(decodeEvent(bytesOf(text))).toEqual({
      table: 'a',
      receivedTimestamp: 't',
      id: null,
      entity: null,
      data: '{"x":1}',
    });
  });

  test.each([
    ['', 'malformed: invalid json: unexpected end at offset 0'],
    ['[]', 'invalid: expected an object'],
    ['{"table_name":"a","received_timestamp":"t"}', 'invalid: data: missing'],
    ['{"table_name":"a","data":{}}', 'invalid: received_timestamp: missing'],
    ['{"table_name":7,"received_timestamp":"t","data":{}}', 'invalid: table_name: expected a string'],
    ['{"table_name":"a","received_timestamp":"t","data":[]}', 'invalid: data: expected an object'],
    ['{"table_name":"a","received_timestamp":"t","data":{},"data":{}}', 'invalid: data: given twice'],
    ['{"table_name":"a","received_timestamp":"t","id":null,"data":{}}', 'invalid: id: expected a string'],
  ])('BRK-5: %j is no event', (text, reason) => {
    expect(refusal(() => decodeEvent(bytesOf(text)))).toBe(reason);
  });
});

describe('idText', () => {
  const of = (text: string) => idText(readJson(text));

  // kills: id-text.ts: text: value.text => text: String(Number(value.text))
  test('ING-7: strings key by their text, numbers by their digits, booleans by their name', () => {
    expect(of('"a\\u0041"')).toEqual({ kind: 'id', text: 'aA' });
    expect(of('9007199254740993')).toEqual({ kind: 'id', text: '9007199254740993' });
    expect(of('1.0')).toEqual({ kind: 'id', text: '1.0' });
    expect(of('1')).toEqual(of('"1"'));
    expect(of('true')).toEqual({ kind: 'id', text: 'true' });
    expect(of('false')).toEqual({ kind: 'id', text: 'false' });
    expect(idText(new JsonNumber('-0'))).toEqual({ kind: 'id', text: '-0' });
  });

  test('ING-7: null and the empty string are no id; a blank is one', () => {
    expect([of('null'), of('""'), of('" "')]).toEqual([{ kind: 'none' }, { kind: 'none' }, { kind: 'id', text: ' ' }]);
  });

  test('ING-7: arrays and objects are refused', () => {
    expect(of('[1]')).toEqual({ kind: 'refused', reason: 'an array is no id' });
    expect(of('{}')).toEqual({ kind: 'refused', reason: 'an object is no id' });
  });
});
