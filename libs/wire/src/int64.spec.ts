import fc from 'fast-check';
import { anyInt64 } from './arbitraries.ts';
import { I64_MAX, I64_MIN, parseInt64 } from './int64.ts';

test('RLY-2: every signed 64-bit integer is read exactly', () => {
  fc.assert(fc.property(anyInt64, (value) => parseInt64(String(value)) === value));
  expect(parseInt64('9007199254740993')).toBe(9007199254740993n);
  expect(parseInt64('-9223372036854775808')).toBe(I64_MIN);
  expect(parseInt64('9223372036854775807')).toBe(I64_MAX);
});

test.each([
  ['9223372036854775808', '-9223372036854775809', '10000000000000000000', '1'.repeat(100_000)],
  ['1.0', '1e3', '1E3', '-0', '00', '01', '-01', '+1', '-', '', ' 1', '1 ', '1n', '0x1', '"1"', 'null', '１'],
])('RLY-2: tokens that are no integer in range are null (%#)', (...tokens) => {
  expect(tokens.map((token) => parseInt64(token))).toEqual(tokens.map(() => null));
});
