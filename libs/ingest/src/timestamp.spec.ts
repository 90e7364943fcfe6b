import fc from 'fast-check';
import { JsonNumber } from '@tidemark/libs-wire';
import { canonicalTime } from './timestamp.ts';

test.each([
  ['2026-11-30T01:02:03Z', '2026-11-30T01:02:03Z'],
  ['2026-11-30t01:02:03z', '2026-11-30T01:02:03Z'],
  ['2026-11-30 01:02:03', '2026-11-30T01:02:03Z'],
  ['2026-11-30T01:02:03+02:00', '2026-11-29T23:02:03Z'],
  ['2026-11-30T01:02:03.120-0530', '2026-11-30T06:32:03.120Z'],
  ['2026-11-30T01:02:03.123456789123+02', '2026-11-29T23:02:03.123456789123Z'],
  ['2024-02-28T23:30:00-01:00', '2024-02-29T00:30:00Z'],
  ['2016-12-31T23:59:60Z', '2016-12-31T23:59:60Z'],
  ['2017-01-01T01:59:60+02:00', '2016-12-31T23:59:60Z'],
  ['0099-03-01T00:00:00Z', '0099-03-01T00:00:00Z'],
  ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ['2026-11-30T01:02:03-00:00', '2026-11-30T01:02:03Z'],
])('ING-9, #372: %s is %s', (text, canonical) => {
  expect(canonicalTime(text, null)).toBe(canonical);
});

test.each([
  '',
  'now',
  '2026-11-30',
  '2026-11-30T01:02Z',
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-11-30T24:00:00Z',
  '2026-11-30T01:60:00Z',
  '2026-11-30T01:02:61Z',
  '2026-11-30T01:02:03+24:00',
  '2026-11-30T01:02:03.Z',
  ' 2026-11-30T01:02:03Z',
  '12026-11-30T01:02:03Z',
  '0000-01-01T00:00:00+01:00',
  '9999-12-31T23:59:59-00:01',
  '1732924800',
])('ING-9: %j names no moment and is left as it is', (text) => {
  expect(canonicalTime(text, 's')).toBeNull();
});

test.each([
  ['1732924800', 's', '2024-11-30T00:00:00Z'],
  ['1732924800.250', 's', '2024-11-30T00:00:00.250Z'],
  ['1732924800007', 'ms', '2024-11-30T00:00:00.007Z'],
  ['1732924800000001', 'us', '2024-11-30T00:00:00.000001Z'],
  ['1732924800123456789', 'ns', '2024-11-30T00:00:00.123456789Z'],
  ['-1', 'ms', '1969-12-31T23:59:59.999Z'],
  ['0', 's', '1970-01-01T00:00:00Z'],
] as const)('ING-9, J8: the number %s in %s is %s, to the last digit', (token, unit, canonical) => {
  expect(canonicalTime(new JsonNumber(token), unit)).toBe(canonical);
  expect(canonicalTime(new JsonNumber(token), null)).toBeNull();
});

test.each([
  ['1e9', 's'],
  ['1.5', 'ms'],
  ['-1.5', 's'],
  ['99999999999999999999', 's'],
  ['253402300800', 's'],
] as const)('ING-9: the number %s in %s is left as it is', (token, unit) => {
  expect(canonicalTime(new JsonNumber(token), unit)).toBeNull();
});

test.each([true, null, [], '2026'])('ING-9: %j is no time', (value) => {
  expect(canonicalTime(value, 'ms')).toBeNull();
});

test('ING-9: whatever a Date writes is canonical, and what is canonical stays', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date(253402300799999), noInvalidDate: true }), (date) => {
      const text = date.toISOString();
      expect(canonicalTime(text, null)).toBe(text);
      expect(canonicalTime(new JsonNumber(String(date.getTime())), 'ms')).toBe(text);
    }),
  );
});
