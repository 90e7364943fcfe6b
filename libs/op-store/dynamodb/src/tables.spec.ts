import { DescribeTableCommand, DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { keyText } from '@tidemark/libs-driver-dynamodb';
import { serverTests } from '@tidemark/tools-services/testing';
import { specTables } from './spec-tables.ts';
import { createTables } from './tables.ts';

const dynamodbTest = serverTests('dynamodb');
const sleeper = { sleep: async () => {} };

dynamodbTest('RLY-18: both tables have the keys that other relays use, and no index', async ({ endpoint }) => {
  const { client, opsTable, registryTable } = await specTables(endpoint);
  const described = async (TableName: string) =>
    (await client.send(new DescribeTableCommand({ TableName }))).Table ?? {};
  expect(keyText(await described(opsTable))).toBe('stream_id S, seq N');
  expect(keyText(await described(registryTable))).toBe('stream_id S, sk S');
  expect((await described(opsTable)).GlobalSecondaryIndexes).toBeUndefined();
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: registryTable }));
  expect(TimeToLiveDescription).toMatchObject({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expires_at' });
});

dynamodbTest('tables that are there are left as they are', async ({ endpoint }) => {
  const { client, opsTable, registryTable, put, items } = await specTables(endpoint);
  await put(opsTable, { stream_id: { S: 's' }, seq: { N: '0' } });
  await createTables(client, { opsTable, registryTable }, sleeper);
  expect(await items(opsTable)).toHaveLength(1);
});
