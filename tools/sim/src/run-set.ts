import { type RandomCase, type RunResult, runSeed } from './cases/random-case.ts';
import { type SmallCase, smallRun } from './cases/small-case.ts';
import { type Anomalies, addAnomalies, noAnomalies } from './dynamo/anomalies.ts';
import { type Exploration, type ExploreBounds, explore } from './scheduler/explore.ts';
import type { Wrap } from './world.ts';

/** A violation, and the command that shows it again. */
export interface Failure {
  readonly what: string;
  readonly replay: string;
}

export interface SeedsResult {
  readonly runs: number;
  readonly steps: number;
  readonly ops: number;
  readonly anomalies: Anomalies;
  readonly failures: readonly Failure[];
}

export interface SeedsOptions {
  readonly wrap?: Wrap;
  /** Runs each seed once more and compares what happened. */
  readonly twice?: boolean;
  readonly onRun?: (result: RunResult) => void;
}

/** Runs each case with each seed. */
export async function runSeeds(
  cases: readonly RandomCase[],
  seeds: readonly number[],
  { wrap, twice = false, onRun }: SeedsOptions = {},
): Promise<SeedsResult> {
  const anomalies = noAnomalies();
  const failures: Failure[] = [];
  let [runs, steps, ops] = [0, 0, 0];
  for (const seed of seeds) {
    for (const random of cases) {
      const options = wrap === undefined ? {} : { wrap };
      const result = await runSeed(random, seed, options);
      onRun?.(result);
      runs++;
      steps += result.steps;
      ops += result.ops;
      addAnomalies(anomalies, result.anomalies);
      const replay = `npm run sim -- --case ${random.name} --seed ${seed} --trace 200`;
      for (const what of result.violations) failures.push({ what: `${random.name}, seed ${seed}: ${what}`, replay });
      if (twice && (await runSeed(random, seed, options)).hash !== result.hash)
        failures.push({ what: `${random.name}, seed ${seed}: the second run was another one`, replay });
    }
  }
  return { runs, steps, ops, anomalies, failures };
}

/** Tries the schedules of a small case. */
export async function runSmall(
  small: SmallCase,
  bounds: ExploreBounds,
  wrap?: Wrap,
): Promise<Exploration & { failures: readonly Failure[] }> {
  const result = await explore((choices, lines) => smallRun(small, choices, lines, wrap), bounds);
  const failures =
    result.found === null
      ? []
      : [
          {
            what: `${small.name}: ${result.found.violation}`,
            replay: `npm run sim -- --case ${small.name} --path ${result.found.path.join(',')}`,
          },
        ];
  return { ...result, failures };
}
