import { opStoreConformance } from '@tidemark/libs-op-store-contract/testing';
import { pooledTests } from '@tidemark/tools-services/testing';
import { plant } from './plant.ts';
import { Scratch } from './scratch.ts';

/** One database for all cases, emptied for each: a pooler in transaction mode drops the search path that would tell schemas apart. */
let scratch: Scratch | undefined;
afterAll(() => scratch?.remove());

const pooledTest = pooledTests();

/** A watch that does not hear at once gives up. */
const sleeper = { sleep: () => Promise.resolve() };

describe('the op store through a pooler in transaction mode', () => {
  for (const { title, run } of opStoreConformance) {
    pooledTest(
      title,
      async (pooler, postgres) => {
        const database = (scratch ??= await Scratch.inDatabase(postgres));
        await database.empty();
        await run({
          open: async () => (await database.open({ url: database.through(pooler), sleeper })).opStore,
          plant: (stream, seq, op) => plant(database, stream, seq, op),
        });
      },
      60_000,
    );
  }
});

pooledTest('RLY-14: a pooler that loses LISTEN is noticed, and said in one line', async (pooler, postgres) => {
  scratch ??= await Scratch.inDatabase(postgres);
  await scratch.empty();
  const { opStore } = await scratch.open({ url: scratch.through(pooler) });
  const before = scratch.warnings.length;
  const watching = opStore.watch(() => {});
  while (scratch.time.sleepers === 0) await opStore.ping();
  for (let i = 0; i < 20; i++) await opStore.ping();
  scratch.time.advance(5000);
  expect(await watching).toBeNull();
  expect(scratch.warnings.slice(before)).toEqual([
    expect.stringMatching(/^Postgres .* does not pass on LISTEN.*polling$/),
  ]);
});
