import { type CaughtMutant, FOLD_MUTANTS } from './fold-mutants.ts';
import { FOLD_CASES, type FoldCase } from './fold-plan.ts';
import { addFoldCounts, noFoldCounts, runFoldSeeds } from './fold-seeds.ts';

/** Work is bounded by events. */
const HANG_MS = 600_000;

/** The first of each runs twice; seeds that once failed belong here. */
const SEEDS: Readonly<Record<string, readonly number[]>> = {
  'fold-storm': [1, 2, 3, 29],
  'fold-add-era': [8, 12],
  'fold-outage': [13, 15, 41, 69],
  'fold-upgrade': [1, 2, 7, 23],
};

const caseOf = (name: string) => FOLD_CASES.find((one) => one.name === name) as FoldCase;

test(
  'FLD-1, FLD-2, FLD-3, FLD-4, FLD-5, FLD-6, FLD-7, FLD-9: a fixed set of storms ends in the full fold, no mark ever lied, and the workers were not spared',
  async () => {
    const counts = noFoldCounts();
    for (const [name, seeds] of Object.entries(SEEDS)) {
      const first = await runFoldSeeds(caseOf(name), seeds.slice(0, 1), { twice: true });
      const others = await runFoldSeeds(caseOf(name), seeds.slice(1));
      // Each with the command that plays it again.
      expect([...first.failures, ...others.failures]).toEqual([]);
      addFoldCounts(counts, first.anomalies);
      addFoldCounts(counts, others.anomalies);
    }
    expect(Object.entries(counts).filter(([, count]) => count === 0)).toEqual([]);
  },
  HANG_MS,
);

/** Most are seen by the first seed or so. */
const MUTANT_SEEDS_MAX = 20;

test.each(Object.entries(FOLD_MUTANTS))(
  'FLD-1, FLD-2, FLD-4, FLD-5, FLD-9: the judges catch this mutant: %s',
  async (_name, { caughtIn, caught, ...mutant }: CaughtMutant) => {
    let said = '';
    for (let seed = 2; !caught.test(said) && seed <= MUTANT_SEEDS_MAX; seed++) {
      const { failures } = await runFoldSeeds(caseOf(caughtIn), [seed], { mutant });
      said = failures.map(({ what }) => what).join('\n');
    }
    expect(said).toMatch(caught);
  },
  HANG_MS,
);
