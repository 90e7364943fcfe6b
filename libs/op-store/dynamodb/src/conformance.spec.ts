import { opStoreConformance } from '@tidemark/libs-op-store-contract/testing';
import { serverTests } from '@tidemark/tools-services/testing';
import { QUICK_TIME, SpecStore } from './spec-store.ts';

const dynamodbTest = serverTests('dynamodb');

/** Writers of some cases race for many seconds on a slow machine. */
const RACING = { clock: QUICK_TIME, sleeper: QUICK_TIME, contentionRounds: 10_000 };

describe('the op store in DynamoDB', () => {
  for (const { title, run } of opStoreConformance)
    dynamodbTest(
      title,
      async ({ endpoint }) => {
        const spec = await SpecStore.make(endpoint);
        await run({
          open: async () => spec.open(RACING).store,
          plant: (stream, seq, op) => spec.plant(stream, seq, op),
        });
      },
      120_000,
    );
});
