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
