import fc from 'fast-check';
import { JSON_DEPTH_MAX } from '@tidemark/libs-kernel';
import { anyBlanks, anyJson, refusal, spaced } from './arbitraries.ts';
import { splitJsonArray } from './json-array.ts';
import { compactJson } from './json-compact.ts';
import { readJson } from './json-read.ts';
import { writeJson } from './json-write.ts';

const elements = (text: string): string[] => [...splitJsonArray(text)];
const split = (text: string) => refusal(() => splitJsonArray(text));

test('ING-1: elements come back as their source text', () => {
  expect(elements(' [ {"a": [1, 2]} ,"x]",\n1.0,[],null ] ')).toEqual(['{"a": [1, 2]}', '"x]"', '1.0', '[]', 'null']);
  expect(elements('[]')).toEqual([]);
  expect(elements('[ ]')).toEqual([]);
});

// kills: json-array.ts: return cut(text, bounds) => return [...cut(text, bounds)]
test('OPS-4: millions of small elements take no more than their places until they are asked for', () => {
  const text = `[${'1,'.repeat(2_000_000)}1]`;
  const before = process.memoryUsage();
  const found = splitJsonArray(text);
  const after = process.memoryUsage();
  expect(after.heapUsed - before.heapUsed).toBeLessThan(40_000_000);
  let count = 0;
  for (const element of found) count += Number(element);
  expect(count).toBe(2_000_001);
});

test('ING-1: the pieces of any array read as its elements', () => {
  fc.assert(
    fc.property(fc.array(anyJson, { maxLength: 6 }), anyBlanks, (values, blanks) => {
      expect(elements(spaced(values, blanks)).map((piece) => readJson(piece))).toEqual(values);
    }),
  );
});

test.each(['[,1]', '[1,,2]', '[1,]', '[,]', '[ , ]', '[{"a":1},\n]'])('ING-1: %j has an empty element', (text) => {
  expect(split(text)).toBe('malformed: invalid json: empty element in the json array');
});

test('ING-11: an array that is cut anywhere is unterminated', () => {
  const text = '[{"a":[1.5e3,true]},"\\u00e9\\n",null]';
  for (let end = 1; end < text.length; end++) {
    expect([end, split(text.slice(0, end))]).toEqual([end, 'malformed: invalid json: unterminated json array']);
  }
});

test.each([
  ['{"a":1}', "expected '[' at offset 0"],
  ['[1]x', 'text after the value at offset 3'],
  ['[1][2]', 'text after the value at offset 3'],
  ['[1 2]', "expected ',' or ']' at offset 3"],
  ['[{"a":1]', "expected ',' or '}' at offset 7"],
  ['[{"a":1}}', "expected ',' or ']' at offset 8"],
  ['["\t"]', 'control character in a string at offset 2'],
])('ING-11: %j gives no element at all', (text, reason) => {
  expect(split(text)).toBe(`malformed: invalid json: ${reason}`);
});

test('RLY-2: a lone surrogate fails in its own element', () => {
  const [bad, good] = elements('["\\ud800","fine"]');
  expect(refusal(() => readJson(bad as string))).toMatch('lone surrogate');
  expect(readJson(good as string)).toBe('fine');
});

test('ING-11: an element may be nested as deep as a document of its own', () => {
  const element = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  expect(split(`[${element(JSON_DEPTH_MAX)}]`)).toBe('accepted');
  expect(split(`[${element(JSON_DEPTH_MAX + 1)}]`)).toMatch('nested deeper than');
  expect(split('['.repeat(10_000_000))).toMatch('nested deeper than');
});

test('RLY-2: compacting drops the blanks between tokens and changes nothing else', () => {
  fc.assert(
    fc.property(anyJson, anyBlanks, (value, blanks) => {
      expect(compactJson(spaced(value, blanks))).toBe(writeJson(value));
    }),
  );
  expect(compactJson('{ "a b" : "\\" \\\\" , "\\u0041" : [ 1.0 , 2 ] }')).toBe('{"a b":"\\" \\\\","\\u0041":[1.0,2]}');
});
