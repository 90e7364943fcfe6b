import type { Failure } from '../run-set.ts';
import { type IngestCase, type RunOptions, runIngest } from './run.ts';
import { type IngestAnomalies, noAnomalies } from './weather.ts';

export interface IngestSeedsResult {
  readonly runs: number;
  readonly events: number;
  readonly anomalies: IngestAnomalies;
  readonly failures: readonly Failure[];
}

/** Runs the case with each seed. */
export async function runIngestSeeds(
  one: IngestCase,
  seeds: readonly number[],
  options: RunOptions & { readonly onRun?: () => void } = {},
): Promise<IngestSeedsResult> {
  const anomalies = noAnomalies();
  const failures: Failure[] = [];
  let events = 0;
  for (const seed of seeds) {
    const run = await runIngest(one, seed, options);
    options.onRun?.();
    events += run.events;
    for (const name of Object.keys(anomalies) as (keyof IngestAnomalies)[]) anomalies[name] += run.anomalies[name];
    const replay = `npm run sim -- --case ${one.name} --seed ${seed} --trace 200`;
    for (const what of run.violations) failures.push({ what: `${one.name}, seed ${seed}: ${what}`, replay });
  }
  return { runs: seeds.length, events, anomalies, failures };
}
