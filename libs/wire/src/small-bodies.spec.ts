import { anyText, bytesOf, refusal } from './arbitraries.ts';
import fc from 'fast-check';
import { announcementProblem, decodeAnnouncement } from './announcement.ts';
import { parseCursor, parseLimit } from './cursor.ts';
import { I64_MAX, I64_MIN } from './int64.ts';
import { quoteJson } from './json-write.ts';
import { decodeRegister } from './register.ts';

describe('decodeRegister', () => {
  const refuse = (text: string) => refusal(() => decodeRegister(bytesOf(text)));

  test('RLY-15: prefix and uuid are opaque: any text is read as it is', () => {
    fc.assert(
      fc.property(anyText, anyText, (prefix, replicaUuid) => {
        const text = `{"x":{"prefix":1},"replica_uuid":${quoteJson(replicaUuid)},"prefix":${quoteJson(prefix)}}`;
        expect(decodeRegister(bytesOf(text))).toEqual({ prefix, replicaUuid });
      }),
    );
    expect(decodeRegister(bytesOf('{"pr\\u0065fix":"","replica_uuid":""}'))).toEqual({ prefix: '', replicaUuid: '' });
  });

  test.each([
    ['[]', 'invalid: expected an object'],
    ['{"prefix":"a"}', 'invalid: replica_uuid: missing'],
    ['{"replica_uuid":"a"}', 'invalid: prefix: missing'],
    ['{"prefix":1,"replica_uuid":"a"}', 'invalid: prefix: expected a string'],
    ['{"prefix":"a","replica_uuid":null}', 'invalid: replica_uuid: expected a string'],
    ['{"prefix":"a","replica_uuid":"b","prefix":"a"}', 'invalid: prefix: given twice'],
    ['{"prefix":"a","replica_uuid":"b"', 'malformed: invalid json: unexpected end at offset 32'],
    ['{"prefix":"a","replica_uuid":"b"} {}', 'malformed: invalid json: text after the value at offset 34'],
    ['[] []', 'malformed: invalid json: text after the value at offset 3'],
    ['{"prefix":"a","replica_uuid":"\\udfff"}', 'malformed: invalid json: lone surrogate at offset 30'],
  ])('RLY-1: %s is refused', (text, reason) => {
    expect(refuse(text)).toBe(reason);
  });
});

describe('decodeAnnouncement', () => {
  const decodeInterval = (token: string) =>
    refusal(() => decodeAnnouncement(bytesOf(`{"machine_id":"m","name":"n","interval_secs":${token}}`)));

  test('RLY-1: unknown members are ignored', () => {
    const text = '{"machine_id":"01jb2r0machine","name":"Mac mini","interval_secs":300,"padding":["x"]}';
    expect(decodeAnnouncement(bytesOf(text))).toEqual({
      machineId: '01jb2r0machine',
      name: 'Mac mini',
      intervalSecs: 300n,
    });
  });

  test('RLY-1: an interval is an unsigned 64-bit integer token; whether it fits is judged later', () => {
    for (const token of ['0', '3601', '18446744073709551615']) expect(decodeInterval(token)).toBe('accepted');
    for (const token of ['-1', '-0', '1.0', '1e2', '"300"', 'null', '18446744073709551616', '9'.repeat(5000)]) {
      expect(decodeInterval(token)).toBe('invalid: interval_secs: expected an unsigned 64-bit integer');
    }
  });
});

describe('announcementProblem', () => {
  const problem = (machineId: string, name = 'Mac mini', intervalSecs = 300n) =>
    announcementProblem({ machineId, name, intervalSecs });
  const nameProblem = (name: string) => problem('m', name);

  test('RLY-15: every edge of the bounds is fine', () => {
    expect(problem('!'.repeat(64))).toBeNull();
    expect(problem('~', 'é'.repeat(64), 1n)).toBeNull();
    expect(problem('m', '😀'.repeat(64), 3600n)).toBeNull();
    expect(problem('m', 'Carsten’s Mac mini (dev)')).toBeNull();
    expect(problem('m', ' 書斎の機械 ')).toBeNull();
  });

  test.each(['', 'x'.repeat(65), 'has space', 'é', 'a\u007f', 'a\n', '\u0000'])('RLY-15: machine id %j', (id) => {
    expect(problem(id)).toBe('machine_id must be 1 to 64 bytes of printable ASCII without spaces.');
  });

  test.each(['', 'x'.repeat(65), '😀'.repeat(65)])('RLY-15: a name of %j is too short or too long', (name) => {
    expect(nameProblem(name)).toBe('name must be 1 to 64 characters long.');
  });

  test('RLY-15: names that are blank, hold controls or odd white space are refused', () => {
    for (const name of [' ', '   ', '\u00a0\u3000']) expect(nameProblem(name)).toBe('name must not be blank.');
    for (const name of ['a\tb', 'a\n', 'a\u0000', 'a\u0085b', 'a\u009f']) {
      expect(nameProblem(name)).toBe('name must not hold control characters.');
    }
    for (const name of [
      'a\u00a0b',
      'a\u2028b',
      'a\u2029b',
      'a\u1680b',
      'a\u2007b',
      'a\u202fb',
      'a\u205fb',
      'a\u3000b',
    ]) {
      expect(nameProblem(name)).toBe('name must not hold white space other than the plain space.');
    }
  });

  test('RLY-15: every invisible or direction-changing character is refused', () => {
    const ranges = [
      [0xad],
      [0x61c],
      [0x180e],
      [0x200b, 0x200f],
      [0x202a, 0x202e],
      [0x2060, 0x2064],
      [0x2066, 0x2069],
      [0xfeff],
    ];
    for (const [first = 0, last = first] of ranges) {
      for (let unit = first; unit <= last; unit++) {
        expect(nameProblem(`a${String.fromCharCode(unit)}b`)).toBe(
          'name must not hold invisible or direction-changing characters.',
        );
      }
    }
    expect(nameProblem('a\u2065b')).toBeNull();
  });

  test('RLY-15: the interval is 1 to 3600, and fields are judged in order', () => {
    for (const secs of [0n, 3601n, 2n ** 64n - 1n]) {
      expect(problem('m', 'n', secs)).toBe('interval_secs must be between 1 and 3600.');
    }
    expect(problem('', '', 0n)).toMatch(/^machine_id/);
    expect(problem('m', '', 0n)).toMatch(/^name/);
  });
});

describe('parseCursor and parseLimit', () => {
  test('RLY-2: a cursor is a signed 64-bit integer, 0 when it is not given', () => {
    expect(parseCursor(undefined)).toBe(0n);
    expect(parseCursor('9007199254740993')).toBe(9007199254740993n);
    expect(parseCursor('-5')).toBe(-5n);
    expect(parseCursor(String(I64_MAX))).toBe(I64_MAX);
    expect(parseCursor(String(I64_MIN))).toBe(I64_MIN);
    expect([parseCursor('+7'), parseCursor('007'), parseCursor('-0')]).toEqual([7n, 7n, 0n]);
  });

  test.each([
    '',
    ' 1',
    '1.5',
    '1e3',
    'x',
    '0x1',
    '--1',
    '9223372036854775808',
    '-9223372036854775809',
    '9'.repeat(9999),
  ])('RLY-1: %j is no cursor', (text) => {
    expect(refusal(() => parseCursor(text))).toBe('malformed: since: expected a signed 64-bit integer');
  });

  test('RLY-1: a limit defaults to 500 and is clamped to 10000', () => {
    expect(
      [undefined, '0', '+00', '500', '0'.repeat(999) + '7', '10001', '18446744073709551615'].map(parseLimit),
    ).toEqual([500, 0, 0, 500, 7, 10_000, 10_000]);
  });

  test.each(['', '-1', '-0', 'x', '1.5', '1e3', ' 1', 'Infinity', '18446744073709551616', '100000000000000000000'])(
    'RLY-1: %j is no limit',
    (text) => {
      expect(refusal(() => parseLimit(text))).toBe('malformed: limit: expected an unsigned 64-bit integer');
    },
  );
});
