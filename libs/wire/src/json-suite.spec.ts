import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedData } from '@tidemark/libs-kernel/testing';
import { bytesOf, refusal } from './arbitraries.ts';
import { splitJsonArray } from './json-array.ts';
import { decodeUtf8, readJson } from './json-read.ts';
import { quoteJson, writeJson } from './json-write.ts';
import { escapeToken, unescapeToken } from './keys.ts';

/** The files on which RFC 8259 leaves the choice to the reader, and that ours accepts; it refuses the other `i_` files. */
const ACCEPTED = [
  // Numbers are kept as their digits, so none is too big or too small.
  'i_number_double_huge_neg_exp.json',
  'i_number_huge_exp.json',
  'i_number_neg_int_huge_exp.json',
  'i_number_pos_double_huge_exp.json',
  'i_number_real_neg_overflow.json',
  'i_number_real_pos_overflow.json',
  'i_number_real_underflow.json',
  'i_number_too_big_neg_int.json',
  'i_number_too_big_pos_int.json',
  'i_number_very_big_negative_int.json',
  // Within JSON_DEPTH_MAX.
  'i_structure_500_nested_arrays.json',
  // One byte order mark is dropped.
  'i_structure_UTF-8_BOM_empty_object.json',
];

/** Why the others are refused. */
const REFUSED = /^malformed: invalid json: (?:lone surrogate at offset \d+|the text is not UTF-8)$/;

const suite = sharedData('json-test-suite/test_parsing');
const files = suite === null ? [] : readdirSync(suite);
const withSuite = suite === null ? test.skip : test;
const verdict = (file: string) => refusal(() => readJson(decodeUtf8(readFileSync(join(suite as string, file)))));

withSuite('ING-11: every y_ file of the suite is accepted', () => {
  const names = files.filter((file) => file.startsWith('y_'));
  expect(names.length).toBeGreaterThan(90);
  expect(names.filter((file) => verdict(file) !== 'accepted')).toEqual([]);
});

withSuite('ING-11: every n_ file of the suite is refused as malformed', () => {
  const names = files.filter((file) => file.startsWith('n_'));
  expect(names.length).toBeGreaterThan(180);
  expect(names.filter((file) => !verdict(file).startsWith('malformed: invalid json: '))).toEqual([]);
});

withSuite('ING-11: every i_ file of the suite is answered as decided', () => {
  const names = files.filter((file) => file.startsWith('i_'));
  expect(names.filter((file) => verdict(file) === 'accepted')).toEqual(ACCEPTED);
  const refused = names.filter((file) => !ACCEPTED.includes(file));
  expect(refused.filter((file) => !REFUSED.test(verdict(file)))).toEqual([]);
});

withSuite('ING-11: every file, wrapped in an array, splits into itself or refuses the whole array', () => {
  for (const file of files) {
    const text = readFileSync(join(suite as string, file), 'latin1');
    const answer = refusal(() => expect([...splitJsonArray(`[${text},0]`)].at(-1)).toBe('0'));
    expect(answer).toMatch(/^(?:accepted|malformed: invalid json: .+)$/);
  }
});

const strings = sharedData('naughty-strings.json');
const withStrings = strings === null ? test.skip : test;

withStrings('SEC-2: every naughty string comes back through the JSON codec and through a key token', () => {
  const text = decodeUtf8(readFileSync(strings as string));
  for (const naughty of readJson(text) as string[]) {
    expect(readJson(quoteJson(naughty))).toBe(naughty);
    expect(unescapeToken(escapeToken(naughty))).toBe(naughty);
    expect(readJson(decodeUtf8(bytesOf(writeJson([naughty]))))).toEqual([naughty]);
  }
});
