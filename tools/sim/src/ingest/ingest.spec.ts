import { INGEST_MUTANTS } from './mutants.ts';
import { INGEST_CASES, type IngestCase, runIngest } from './run.ts';
import { type IngestAnomalies, noAnomalies } from './weather.ts';

const SEEDS = 40;
/** What a case brings about by itself. */
const ALWAYS: readonly (keyof IngestAnomalies)[] = ['lostAnswer', 'lapse', 'inFlight', 'repeat'];
const STORMY: readonly (keyof IngestAnomalies)[] = [...ALWAYS, 'lostCall', 'late', 'throttled', 'crash', 'pause'];

async function runs(one: IngestCase, seeds: number, mutant = ''): Promise<IngestAnomalies> {
  const sum = noAnomalies();
  for (let seed = 0; seed < seeds; seed++) {
    const run = await runIngest(one, seed, INGEST_MUTANTS[mutant] ?? {});
    // The command that plays it again.
    if (run.violations.length > 0)
      throw new Error(
        `npm run sim -- --case ingest-${one.name} --seed ${seed} --seeds 1: ${run.violations.join('; ')}`,
      );
    for (const name of Object.keys(sum) as (keyof IngestAnomalies)[]) sum[name] += run.anomalies[name];
  }
  return sum;
}

test.each(INGEST_CASES)(
  'ING-2, ING-3, I1: $name: what is answered is in the queue, and is there once, whatever goes wrong',
  async (one) => {
    const anomalies = await runs(one, SEEDS);
    const wanted = one.name === 'late' ? [...ALWAYS, 'late' as const] : STORMY;
    expect(wanted.filter((name) => anomalies[name] === 0)).toEqual([]);
  },
  120_000,
);

test.each(Object.keys(INGEST_MUTANTS))(
  'ING-2, ING-6: an ingest that %s is caught',
  async (name) => {
    const one = INGEST_CASES.find((each) => each.name === INGEST_MUTANTS[name]?.caughtIn) as IngestCase;
    await expect(runs(one, SEEDS, name)).rejects.toThrow(/a second time|is not in the queue/);
  },
  120_000,
);

test('the same seed is the same run', async () => {
  for (const one of INGEST_CASES) {
    const [first, again] = [await runIngest(one, 7), await runIngest(one, 7)];
    expect([first.traceHash, first.events, first.copies]).toEqual([again.traceHash, again.events, again.copies]);
  }
});
