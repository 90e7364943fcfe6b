import fc from 'fast-check';
import { compareUtf8 } from './text.ts';

const sign = (n: number) => Math.sign(n);

test('strings compare as their UTF-8 bytes do, also above U+FFFF where UTF-16 order differs', () => {
  expect('\u{1F600}' < '\uFFFD').toBe(true);
  expect(compareUtf8('\u{1F600}', '\uFFFD')).toBeGreaterThan(0);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      expect(sign(compareUtf8(a, b))).toBe(sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }),
  );
});

test('a prefix sorts first and equal strings are equal', () => {
  expect(compareUtf8('a', 'ab')).toBeLessThan(0);
  expect(compareUtf8('', '')).toBe(0);
});
