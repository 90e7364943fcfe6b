import { counterexamples } from './cases/counterexamples.ts';
import { plainAt49, randomCases } from './cases/random-cases.ts';
import { smallCases } from './cases/small-cases.ts';
import { runSeeds, runSmall } from './run-set.ts';

const HOUR_MS = 3_600_000;

test.each(counterexamples.map(({ id, right }) => [id, right.about, right] as const))(
  'RLY-3: %s: no schedule breaks the right rule: %s',
  async (_id, _about, right) => {
    const { failures, exhausted } = await runSmall(right, { schedulesMax: 200_000, stepsMax: 500 });
    expect(failures).toEqual([]);
    expect(exhausted).toBe(true);
  },
  HOUR_MS,
);

test.each(smallCases.map((small) => [small.name, small.about, small] as const))(
  'RLY-3, RLY-4, RLY-5, RLY-6: the store holds in up to 20,000 schedules of %s: %s',
  async (_name, _about, small) => {
    expect((await runSmall(small, { schedulesMax: 20_000, stepsMax: 500 })).failures).toEqual([]);
  },
  HOUR_MS,
);

test.each(randomCases.map((random) => [random.name, random.about, random] as const))(
  'RLY-3, RLY-4, RLY-5, RLY-6, RLY-13: 100 seeds of %s: %s',
  async (_name, _about, random) => {
    const seeds = Array.from({ length: 100 }, (_, i) => 1000 + i);
    expect((await runSeeds([random], seeds)).failures).toEqual([]);
  },
  HOUR_MS,
);

test(
  'RLY-8: most seeds show that a plain reader misses ops beside rounds of 49',
  async () => {
    const seeds = Array.from({ length: 20 }, (_, i) => 1 + i);
    const { failures } = await runSeeds([plainAt49], seeds);
    expect(new Set(failures.map(({ replay }) => replay)).size).toBeGreaterThan(10);
  },
  HOUR_MS,
);
