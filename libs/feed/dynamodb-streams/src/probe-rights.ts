import {
  type AttributeValue,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { DescribeStreamCommand, GetRecordsCommand, GetShardIteratorCommand } from '@aws-sdk/client-dynamodb-streams';
import type { DynamoClient } from '@tidemark/libs-driver-dynamodb';
import type { StreamsClient } from './client.ts';

export interface Clients {
  readonly client: DynamoClient;
  readonly streams: StreamsClient;
}

/** One call that is refused when its action is not allowed, and changes nothing in any case. */
export interface Right {
  /** As a policy names it. */
  readonly action: string;
  /** On a table, by its name, or a stream, by its ARN. */
  use(clients: Clients, on: string): Promise<unknown>;
}

type Key = Record<string, AttributeValue>;

const query = (name: string): Right => ({
  action: 'dynamodb:Query',
  use: ({ client }, TableName) =>
    client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: `${name} = :probe`,
        ExpressionAttributeValues: { ':probe': { S: 'tidemark probe' } },
        Limit: 1,
      }),
    ),
});

const get = (Key: Key): Right => ({
  action: 'dynamodb:GetItem',
  use: ({ client }, TableName) => client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true })),
});

const OPS_ITEM: Key = { stream_id: { S: 'tidemark probe' }, seq: { N: '0' } };
const LEASE: Key = { fold: { S: 'tidemark probe' }, leaseKey: { S: 'probe' } };
const NEVER = 'attribute_exists(leaseKey) AND attribute_not_exists(leaseKey)';

/** What a census needs. */
export const OPS_RIGHTS: readonly Right[] = [
  query('stream_id'),
  get(OPS_ITEM),
  {
    action: 'dynamodb:Scan',
    use: ({ client }, TableName) => client.send(new ScanCommand({ TableName, Limit: 1 })),
  },
];

export const LEASES_RIGHTS: readonly Right[] = [
  query('fold'),
  get(LEASE),
  {
    action: 'dynamodb:PutItem',
    use: ({ client }, TableName) =>
      client.send(new PutItemCommand({ TableName, Item: LEASE, ConditionExpression: NEVER })),
  },
  {
    action: 'dynamodb:DeleteItem',
    use: ({ client }, TableName) =>
      client.send(new DeleteItemCommand({ TableName, Key: LEASE, ConditionExpression: NEVER })),
  },
];

const shards = async ({ streams }: Clients, arn: string): Promise<string | undefined> => {
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn: arn, Limit: 1 }));
  return StreamDescription?.Shards?.[0]?.ShardId;
};

/** A shard that was trimmed meanwhile says nothing of rights. */
const unlessTrimmed = (thrown: Error): undefined => {
  if (!/^(TrimmedDataAccess|ExpiredIterator|ResourceNotFound)Exception$/.test(thrown.name)) throw thrown;
};

/** Of some shard. Undefined while none can be had: a right that cannot be tried is not missed. */
const iterator = async (clients: Clients, arn: string): Promise<string | undefined> => {
  const ShardId = await shards(clients, arn).catch(() => undefined);
  if (ShardId === undefined) return undefined;
  const command = new GetShardIteratorCommand({ StreamArn: arn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
  return (await clients.streams.send(command).catch(unlessTrimmed))?.ShardIterator;
};

export const STREAM_RIGHTS: readonly Right[] = [
  { action: 'dynamodb:DescribeStream', use: shards },
  { action: 'dynamodb:GetShardIterator', use: iterator },
  {
    action: 'dynamodb:GetRecords',
    use: async (clients, arn) => {
      const ShardIterator = await iterator(clients, arn).catch(() => undefined);
      if (ShardIterator === undefined) return;
      await clients.streams.send(new GetRecordsCommand({ ShardIterator, Limit: 1 })).catch(unlessTrimmed);
    },
  },
];
