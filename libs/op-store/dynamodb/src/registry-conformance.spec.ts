import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { prefixRegistryConformance, presenceBoardConformance } from '@tidemark/libs-op-store-contract/testing';
import { serverTests } from '@tidemark/tools-services/testing';
import { dynamodbPrefixRegistry } from './prefix-registry.ts';
import { dynamodbPresenceBoard } from './presence-board.ts';
import { specTables } from './spec-tables.ts';

const dynamodbTest = serverTests('dynamodb');

describe('the prefix registry in DynamoDB', () => {
  for (const { title, run } of prefixRegistryConformance)
    dynamodbTest(title, async ({ endpoint }) => {
      const { client, registryTable: table } = await specTables(endpoint);
      const time = new ManualTime();
      const parts = { client, table, clock: time, sleeper: time, random: new SeededRandom(1) };
      await run({ open: async () => dynamodbPrefixRegistry(parts) });
    });
});

describe('the presence board in DynamoDB', () => {
  for (const { title, run } of presenceBoardConformance)
    dynamodbTest(title, async ({ endpoint }) => {
      const { client, registryTable: table } = await specTables(endpoint);
      await run({ open: async () => dynamodbPresenceBoard({ client, table }) });
    });
});
