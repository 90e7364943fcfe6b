import { FOLD_CASES } from './fold-plan.ts';
import { runFoldSeeds } from './fold-seeds.ts';

const SEEDS = 1000;
const ONE_BY_ONE = 50;

test.each(FOLD_CASES)(
  'FLD-1, FLD-2, FLD-5, FLD-9: $name: thousands of seeds end in the full fold, and no mark ever lied',
  async (one) => {
    for (let from = 1; from <= SEEDS; from += ONE_BY_ONE) {
      const seeds = Array.from({ length: ONE_BY_ONE }, (_, i) => from + i);
      expect((await runFoldSeeds(one, seeds)).failures).toEqual([]);
    }
  },
  7_200_000,
);
