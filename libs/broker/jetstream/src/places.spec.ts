import { baseOf } from './places.ts';

test.each([
  ['2026-11-30T11:19:57.500859333Z', 1796037597500859n],
  ['2026-11-30T11:19:57.5Z', 1796037597500000n],
  ['2026-11-30T11:19:57Z', 1796037597000000n],
  ['2026-11-30T12:19:57.000001+01:00', 1796037597000001n],
])('BRK-5: places of a queue made at %s begin above that microsecond', (created, base) => {
  expect(baseOf(created)).toBe(base);
});
