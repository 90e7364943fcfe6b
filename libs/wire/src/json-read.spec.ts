import fc from 'fast-check';
import { JSON_DEPTH_MAX } from '@tidemark/libs-kernel';
import { anyBlanks, anyJson, anyText, bytesOf, refusal, spaced } from './arbitraries.ts';
import { decodeUtf8, jsonEnd, readJson } from './json-read.ts';
import { JsonNumber, JsonObject } from './json-value.ts';
import { quoteJson, writeJson } from './json-write.ts';

const read = (text: string) => refusal(() => readJson(text));

describe('readJson', () => {
  test('RLY-2: any document comes back as it was written, with any blanks between its tokens', () => {
    fc.assert(
      fc.property(anyJson, anyBlanks, (value, blanks) => {
        expect(readJson(spaced(value, blanks))).toEqual(value);
        expect(writeJson(readJson(writeJson(value)))).toBe(writeJson(value));
      }),
    );
  });

  test('RLY-2: it accepts exactly what JSON.parse accepts of damaged documents without surrogates', () => {
    fc.assert(
      fc.property(
        anyJson,
        fc.nat(),
        fc.constantFrom('', '"', '\\', ',', ']', '}', '{', '0', '-', '\n', 'u'),
        (value, at, put) => {
          const text = writeJson(value);
          const cut = at % (text.length + 1);
          const damaged = text.slice(0, cut) + put + text.slice(cut + 1);
          if (!damaged.isWellFormed()) return;
          expect([damaged, read(damaged) === 'accepted']).toEqual([damaged, parses(damaged)]);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('RLY-2: numbers keep their digits', () => {
    const tokens = ['0', '-0', '1.0', '1e400', '9007199254740993', '-9223372036854775808', '0.10', '1E+02'];
    expect(readJson(`[${tokens.join()}]`)).toEqual(tokens.map((token) => new JsonNumber(token)));
  });

  test('SEC-2: __proto__ and constructor are keys like any other', () => {
    const value = readJson('{"__proto__":{"polluted":true},"constructor":1}') as JsonObject;
    expect([...value.members.keys()]).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('ING-7: a repeated key is reported once, its last value stays, and the order is that of first appearance', () => {
    const value = readJson('{"a":1,"b":2,"\\u0061":3,"a":4,"c":{"b":5}}') as JsonObject;
    expect(value.repeated).toEqual(['a']);
    expect([...value.members.keys()]).toEqual(['a', 'b', 'c']);
    expect(value.members.get('a')).toEqual(new JsonNumber('4'));
    expect((value.members.get('c') as JsonObject).repeated).toEqual([]);
  });

  test('RLY-2: lone surrogates are refused, escaped or raw; pairs are read', () => {
    expect(readJson('"\\ud83d\\ude00"')).toBe('😀');
    for (const text of ['"\\ud800"', '"\\ude00"', '"\\ud83d\\n"', '"\\ud83dx"', '"\\ude00\\ud83d"', '{"\\ud800":1}']) {
      expect(read(text)).toMatch(/^malformed: invalid json: lone surrogate at offset \d+$/);
    }
    expect(read('["a\ud800"]')).toBe('malformed: invalid json: lone surrogate at offset 3');
    expect(read('"\ud83d\\ude00"')).toBe('malformed: invalid json: lone surrogate at offset 1');
  });

  test.each([
    ['', 'unexpected end at offset 0'],
    ['  ', 'unexpected end at offset 2'],
    ['{"a":1}{"a":2}', 'text after the value at offset 7'],
    ['{"a":1},', 'text after the value at offset 7'],
    ['1 2', 'text after the value at offset 2'],
    ['[1,]', 'expected a value at offset 3'],
    ['[,1]', 'expected a value at offset 1'],
    ['{"a":1,}', 'expected a string at offset 7'],
    ['{a:1}', 'expected a string at offset 1'],
    ['{"a" 1}', "expected ':' at offset 5"],
    ['{"a":1]', "expected ',' or '}' at offset 6"],
    ['[1}', "expected ',' or ']' at offset 2"],
    ['01', 'text after the value at offset 1'],
    ['+1', 'expected a value at offset 0'],
    ['1.', 'unexpected end at offset 2'],
    ['-x', 'expected a digit at offset 1'],
    ['1.e3', 'expected a digit at offset 2'],
    ['nul', 'unexpected end at offset 3'],
    ['nulL', 'expected a value at offset 3'],
    ['NaN', 'expected a value at offset 0'],
    ['"\t"', 'control character in a string at offset 1'],
    ['"\n', 'control character in a string at offset 1'],
    ['"\\x"', 'unknown escape at offset 2'],
    ['"\\u00g0"', 'expected four hexadecimal digits at offset 5'],
    ['"\\u00', 'unexpected end at offset 5'],
    ['"a\\', 'unexpected end at offset 3'],
    ['"a\\"', 'unexpected end at offset 4'],
    ['\u00a01', 'expected a value at offset 0'],
    ['\ufeff1', 'expected a value at offset 0'],
    ['1\ufeff', 'text after the value at offset 1'],
    ["'a'", 'expected a value at offset 0'],
    ['[1/**/]', "expected ',' or ']' at offset 2"],
  ])('ING-11: %j is refused', (text, reason) => {
    expect(read(text)).toBe(`malformed: invalid json: ${reason}`);
  });

  test('ING-11: nesting is accepted up to the bound and refused past it, in any amount', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(read(nested(JSON_DEPTH_MAX))).toBe('accepted');
    expect(read(nested(JSON_DEPTH_MAX + 1))).toMatch(
      `nested deeper than ${JSON_DEPTH_MAX} at offset ${JSON_DEPTH_MAX}`,
    );
    expect(read('[{"a":'.repeat(1_000_000))).toMatch(`nested deeper than ${JSON_DEPTH_MAX}`);
    expect(refusal(() => readJson('[[]]', { depthMax: 1 }))).toMatch('nested deeper than 1 at offset 1');
  });

  test('ING-11: depth is a bound, not the stack: 200,000 levels can be read and written when they are asked for', () => {
    const text = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(writeJson(readJson(text, { depthMax: 200_000 })) === text).toBe(true);
    expect(jsonEnd(text, { depthMax: 200_000 })).toBe(text.length);
  });

  test('ING-11: hostile texts take time in proportion to their length', () => {
    const half = 500_000;
    expect(read(`"${'\\n'.repeat(half)}"`)).toBe('accepted');
    expect(read(`"${'\\"'.repeat(half)}`)).toMatch('unexpected end');
    expect(read(`[${'"\\n",'.repeat(half / 2)}1]`)).toBe('accepted');
    expect(read(`[${'"",\n'.repeat(half / 2)}1]`)).toBe('accepted');
    const keys = Array.from({ length: 50_000 }, (_, i) => `"${i}":0`).join();
    expect((readJson(`{${keys},${keys}}`) as JsonObject).repeated).toHaveLength(50_000);
  });
});

describe('jsonEnd', () => {
  test('ING-11: the first value is judged whole and what follows is left to the caller', () => {
    expect(jsonEnd('{"a":1}{"a":2}')).toBe(7);
    expect(jsonEnd(' [1] x')).toBe(4);
    expect(refusal(() => jsonEnd('{"a":1'))).toBe('malformed: invalid json: unexpected end at offset 6');
  });

  test('ING-11: it refuses what readJson refuses, with the same words', () => {
    fc.assert(
      fc.property(anyJson, fc.nat(), (value, at) => {
        const text = writeJson(value);
        const cut = `[${text.slice(0, at % text.length)}`;
        expect(refusal(() => jsonEnd(cut))).toBe(read(cut));
      }),
    );
  });
});

describe('decodeUtf8', () => {
  test('ING-7: one byte order mark is dropped and a second is kept', () => {
    expect(decodeUtf8(bytesOf('\ufeff1'))).toBe('1');
    expect(decodeUtf8(bytesOf('\ufeff\ufeff1'))).toBe('\ufeff1');
  });

  test.each([[[0xff]], [[0xc0, 0x80]], [[0xed, 0xa0, 0x80]], [[0xf4, 0x90, 0x80, 0x80]], [[0x22, 0xe2, 0x82]]])(
    'RLY-2: bytes %j are no UTF-8',
    (bytes) => {
      expect(refusal(() => decodeUtf8(Uint8Array.from(bytes)))).toBe('malformed: invalid json: the text is not UTF-8');
    },
  );
});

describe('writeJson', () => {
  test('RLY-2: compact text, members in their order, number tokens verbatim', () => {
    expect(writeJson(readJson(' { "b" : [ 1.0 , -0 , { } , [ ] ] , "a" : null, "c":"\\u0041\\n" } '))).toBe(
      '{"b":[1.0,-0,{},[]],"a":null,"c":"A\\n"}',
    );
  });

  test('RLY-2: any text, also with lone surrogates, is quoted as JSON.stringify quotes it', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: fc.constantFrom('\ud800', '\udc00', 'a', '"') })), (text) => {
        expect(quoteJson(text)).toBe(JSON.stringify(text));
        expect(quoteJson(text.repeat(50))).toBe(JSON.stringify(text.repeat(50)));
      }),
    );
  });

  test('RLY-2: quoteJson escapes what must be and nothing else', () => {
    expect(quoteJson('a"b\\c/\n\u0000\u007fé😀')).toBe('"a\\"b\\\\c/\\n\\u0000\u007fé😀"');
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
