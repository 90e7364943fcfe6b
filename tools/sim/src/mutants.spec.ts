import { countingMutants, requestsOf } from './mutants/counting.ts';
import { safetyMutants, type SafetyMutant } from './mutants/safety.ts';
import { type Failure, runSeeds, runSmall } from './run-set.ts';

/** Work is bounded by schedules and events. */
const HANG_MS = 600_000;
const BOUNDS = { schedulesMax: 3000, stepsMax: 500 };

/** Most are seen by the first seed or so. */
const SEEDS_MAX = 30;

/** What the checkers say: of a small case, or of the first seed of a random one in which they say something. */
async function wrongs({ small, random, wrap }: SafetyMutant): Promise<string> {
  const said = (failures: readonly Failure[]) => failures.map(({ what }) => what).join('\n');
  if (small !== undefined) return said((await runSmall(small, BOUNDS, wrap)).failures);
  for (let seed = 1; random !== undefined && seed <= SEEDS_MAX; seed++) {
    const { failures } = await runSeeds([random], [seed], wrap === undefined ? {} : { wrap });
    if (failures.length > 0) return said(failures);
  }
  return '';
}

test.each(safetyMutants.map((mutant) => [mutant.name, mutant] as const))(
  'RLY-3, RLY-5, RLY-6, RLY-13: the checkers catch this mutant: %s',
  async (_name, mutant) => {
    expect(await wrongs(mutant)).toMatch(mutant.caught);
  },
  HANG_MS,
);

test.each(countingMutants.map((mutant) => [mutant.name, mutant] as const))(
  'RLY-7, RLY-7b, RLY-9: no checker sees this mutant, its requests tell it: %s',
  async (_name, { scenario, mutant, requests }) => {
    expect(await requestsOf(scenario)).toEqual(requests);
    const mutated = await requestsOf(scenario, mutant);
    expect(sum(mutated)).toBeGreaterThan(sum(requests));
  },
);

const sum = (requests: Readonly<Record<string, number>>) => Object.values(requests).reduce((a, b) => a + b, 0);
