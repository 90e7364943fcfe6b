import fc from 'fast-check';
import { runsOf } from './runs.ts';

test('BRK-5: runs hold the same numbers, in order, and touch nowhere', () => {
  fc.assert(
    fc.property(fc.array(fc.bigInt({ min: 0n, max: 60n })), (numbers) => {
      const runs = runsOf(numbers);
      const held = runs.flatMap(({ from, to }) =>
        Array.from({ length: Number(to - from) + 1 }, (_, n) => from + BigInt(n)),
      );
      expect(held).toEqual([...new Set(numbers)].sort((a, b) => Number(a - b)));
      runs.slice(1).forEach(({ from }, at) => expect(from).toBeGreaterThan(runs[at]!.to + 1n));
    }),
  );
});
