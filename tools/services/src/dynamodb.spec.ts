import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { serverTests, startedHere } from './testing.ts';

const dynamodbTest = serverTests('dynamodb');

const configuration = (endpoint: string) => ({
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});

/** A new table with a stream of new images; answers its name and the stream's ARN. */
async function createTable(client: DynamoDBClient): Promise<{ table: string; stream: string }> {
  const table = `services_${randomUUID()}`;
  const created = await client.send(
    new CreateTableCommand({
      TableName: table,
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 30 }, { TableName: table });
  return { table, stream: created.TableDescription?.LatestStreamArn ?? '' };
}

dynamodbTest('a transaction is written as a whole and its records are read from the stream', async ({ endpoint }) => {
  const client = new DynamoDBClient(configuration(endpoint));
  const streams = new DynamoDBStreamsClient(configuration(endpoint));
  const { table, stream } = await createTable(client);
  const put = (id: string) => ({
    Put: { TableName: table, Item: { id: { S: id } }, ConditionExpression: 'attribute_not_exists(id)' },
  });

  await client.send(new TransactWriteItemsCommand({ TransactItems: [put('a'), put('b')] }));
  const cancelled = client.send(new TransactWriteItemsCommand({ TransactItems: [put('c'), put('b')] }));
  await expect(cancelled).rejects.toMatchObject({
    CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }],
  });

  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn: stream }));
  const { ShardIterator } = await streams.send(
    new GetShardIteratorCommand({
      StreamArn: stream,
      ShardId: StreamDescription?.Shards?.[0]?.ShardId,
      ShardIteratorType: 'TRIM_HORIZON',
    }),
  );
  const { Records } = await streams.send(new GetRecordsCommand({ ShardIterator }));
  expect(Records?.map((record) => record.dynamodb?.NewImage?.['id']?.S).sort()).toEqual(['a', 'b']);
  client.destroy();
  streams.destroy();
});

dynamodbTest('an answered write is there after kill -9 and restart', async (dynamodb) => {
  if (!startedHere('restart of DynamoDB', dynamodb)) return;
  const client = new DynamoDBClient(configuration(dynamodb.endpoint));
  const { table } = await createTable(client);
  await client.send(new PutItemCommand({ TableName: table, Item: { id: { S: 'a' } } }));

  await dynamodb.server.crash();
  await dynamodb.server.restart();

  const read = await client.send(
    new GetItemCommand({ TableName: table, Key: { id: { S: 'a' } }, ConsistentRead: true }),
  );
  expect(read.Item).toEqual({ id: { S: 'a' } });
  client.destroy();
});
