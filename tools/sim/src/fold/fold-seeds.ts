import type { Failure } from '../run-set.ts';
import type { FoldCase } from './fold-plan.ts';
import { type WorkerAnomalies, noWorkerAnomalies } from './fold-weather.ts';
import type { FoldMutant } from './fold-world.ts';
import { runFold } from './run-fold.ts';
import { type StreamsAnomalies, noStreamsAnomalies } from './streams/streams-weather.ts';

export type FoldCounts = StreamsAnomalies & WorkerAnomalies;

export interface FoldSeedsResult {
  readonly runs: number;
  readonly events: number;
  readonly ops: number;
  /** Of all runs together. */
  readonly anomalies: FoldCounts;
  readonly failures: readonly Failure[];
}

export interface FoldSeedsOptions {
  readonly mutant?: FoldMutant;
  /** Runs each seed once more and compares what happened. */
  readonly twice?: boolean;
  readonly onRun?: () => void;
}

export const noFoldCounts = (): FoldCounts => ({ ...noStreamsAnomalies(), ...noWorkerAnomalies() });

export function addFoldCounts(to: FoldCounts, from: FoldCounts): void {
  for (const name of Object.keys(to) as (keyof FoldCounts)[]) to[name] += from[name];
}

/** Runs the case with each seed. */
export async function runFoldSeeds(
  one: FoldCase,
  seeds: readonly number[],
  { mutant, twice = false, onRun }: FoldSeedsOptions = {},
): Promise<FoldSeedsResult> {
  const anomalies = noFoldCounts();
  const failures: Failure[] = [];
  const options = mutant === undefined ? {} : { mutant };
  let [events, ops] = [0, 0];
  for (const seed of seeds) {
    const run = await runFold(one, seed, options);
    onRun?.();
    events += run.steps;
    ops += run.ops;
    addFoldCounts(anomalies, run.anomalies);
    const replay = `npm run sim -- --case ${one.name} --seed ${seed} --trace 200`;
    for (const what of run.violations) failures.push({ what: `${one.name}, seed ${seed}: ${what}`, replay });
    if (twice && (await runFold(one, seed, options)).hash !== run.hash)
      failures.push({ what: `${one.name}, seed ${seed}: the second run was another one`, replay });
  }
  return { runs: seeds.length, events, ops, anomalies, failures };
}
