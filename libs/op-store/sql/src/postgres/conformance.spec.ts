import {
  indexedOpStoreConformance,
  prefixRegistryConformance,
  presenceBoardConformance,
} from '@tidemark/libs-op-store-contract/testing';
import { serverTests } from '@tidemark/tools-services/testing';
import { plant } from './plant.ts';
import { Scratch } from './scratch.ts';

/** One schema for all cases, emptied for each: making the tables takes longer than most cases do. */
let scratch: Scratch | undefined;
afterAll(() => scratch?.remove());

const postgresTest = serverTests('postgres');

function cases<Harness>(
  conformance: readonly { readonly title: string; run(harness: Harness): Promise<void> }[],
  harness: (scratch: Scratch) => Harness,
): void {
  for (const { title, run } of conformance) {
    postgresTest(
      title,
      async ({ endpoint }) => {
        scratch ??= await new Scratch(endpoint).make();
        await scratch.empty();
        await run(harness(scratch));
      },
      60_000,
    );
  }
}

describe('the op store in Postgres', () => {
  cases(indexedOpStoreConformance, (scratch) => ({
    open: async () => (await scratch.open()).opStore,
    plant: (stream, seq, op) => plant(scratch, stream, seq, op),
  }));
});

describe('the prefix registry in Postgres', () => {
  cases(prefixRegistryConformance, (scratch) => ({ open: async () => (await scratch.open()).prefixRegistry }));
});

describe('the presence board in Postgres', () => {
  cases(presenceBoardConformance, (scratch) => ({ open: async () => (await scratch.open()).presenceBoard }));
});
