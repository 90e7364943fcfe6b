import { viewsConformance } from '@tidemark/libs-views-contract/testing';
import { serverTests } from '@tidemark/tools-services/testing';
import { specTable } from './spec-table.ts';
import { dynamoViews } from './views.ts';

const dynamodbTest = serverTests('dynamodb');

describe('views in DynamoDB', () => {
  for (const { title, run } of viewsConformance) {
    dynamodbTest(title, async ({ endpoint }) => {
      const { client, table } = await specTable(endpoint);
      await run({ open: async () => dynamoViews({ client, table }), emptyStream: 'refused' });
    });
  }
});
