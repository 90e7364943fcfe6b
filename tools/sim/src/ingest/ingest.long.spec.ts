import { INGEST_CASES, runIngest } from './run.ts';

test.each(INGEST_CASES)(
  'ING-2, ING-3, I1: $name: thousands of seeds store every answered event, once',
  async (one) => {
    for (let seed = 0; seed < 3000; seed++) {
      const { violations } = await runIngest(one, seed);
      expect([seed, violations]).toEqual([seed, []]);
    }
  },
  900_000,
);
