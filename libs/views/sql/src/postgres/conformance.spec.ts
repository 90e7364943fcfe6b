import { viewsConformance } from '@tidemark/libs-views-contract/testing';
import { serverTests } from '@tidemark/tools-services/testing';
import { Scratch } from './scratch.ts';

/** One schema for all cases, emptied for each: making the tables takes longer than most cases do. */
let scratch: Scratch | undefined;
afterAll(() => scratch?.remove());

const postgresTest = serverTests('postgres');

describe('views in Postgres', () => {
  for (const { title, run } of viewsConformance) {
    postgresTest(
      title,
      async ({ endpoint }) => {
        const database = (scratch ??= await Scratch.make(endpoint));
        await database.empty();
        await run({ open: () => database.open(), nul: 'refused' });
      },
      60_000,
    );
  }
});
