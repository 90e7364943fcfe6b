import { INGEST_MUTANTS, type IngestMutant } from './mutants.ts';
import { INGEST_CASES, type IngestCase, runIngest } from './run.ts';
import { runIngestSeeds } from './seeds.ts';
import type { IngestAnomalies } from './weather.ts';

const SEEDS = 40;
/** What a case brings about by itself. */
const ALWAYS: readonly (keyof IngestAnomalies)[] = ['lostAnswer', 'lapse', 'inFlight', 'repeat'];
const STORMY: readonly (keyof IngestAnomalies)[] = [...ALWAYS, 'lostCall', 'late', 'throttled', 'crash', 'pause'];

const seeds = Array.from({ length: SEEDS }, (_, seed) => seed);

test.each(INGEST_CASES)(
  'ING-2, ING-3, I1: $name: what is answered is in the queue, and is there once, whatever goes wrong',
  async (one) => {
    const { anomalies, failures } = await runIngestSeeds(one, seeds);
    // Each with the command that plays it again.
    expect(failures).toEqual([]);
    const wanted = one.name === 'ingest-late' ? [...ALWAYS, 'late' as const] : STORMY;
    expect(wanted.filter((name) => anomalies[name] === 0)).toEqual([]);
  },
  120_000,
);

test.each(Object.keys(INGEST_MUTANTS))(
  'ING-2, ING-6: an ingest that %s is caught',
  async (name) => {
    const { caughtIn, ...mutant } = INGEST_MUTANTS[name] as IngestMutant;
    const one = INGEST_CASES.find((each) => each.name === caughtIn) as IngestCase;
    const { failures } = await runIngestSeeds(one, seeds, mutant);
    expect(failures.map(({ what }) => what).join()).toMatch(/a second time|is not in the queue/);
  },
  120_000,
);

test('the same seed is the same run', async () => {
  for (const one of INGEST_CASES) {
    const [first, again] = [await runIngest(one, 7), await runIngest(one, 7)];
    expect([first.traceHash, first.events, first.copies]).toEqual([again.traceHash, again.events, again.copies]);
  }
});
