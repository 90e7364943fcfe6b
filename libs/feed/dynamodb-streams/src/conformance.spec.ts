import { type FeedHarness, feedConformance } from '@tidemark/libs-feed-contract/testing';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { serverTests } from '@tidemark/tools-services/testing';
import { dynamodbStreamsFeed } from './feed.ts';
import { SpecLife } from './spec-mortal.ts';
import { specTables } from './spec-tables.ts';

const dynamodbTest = serverTests('dynamodb');

async function harness(endpoint: string): Promise<FeedHarness> {
  const tables = await specTables(endpoint);
  const time = new ManualTime();
  let life = new SpecLife();
  let opened = 0;
  return {
    time,
    answered: () => life.answered(),
    announce: (stream, head) => tables.append(stream, head),
    open: async () => {
      life.isDead = true;
      life = new SpecLife();
      return dynamodbStreamsFeed({
        ...tables,
        client: life.client(tables.client),
        streams: life.client(tables.streams),
        name: 'fold',
        workerId: 'worker',
        clock: time,
        sleeper: time,
        random: new SeededRandom(++opened),
        leaseMs: 1500,
        segments: 2,
      });
    },
  };
}

describe('the feed of DynamoDB Streams', () => {
  for (const { title, run } of feedConformance)
    dynamodbTest(title, async ({ endpoint }) => run(await harness(endpoint)), 120_000);
});
