import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';

export interface Clients {
  readonly client: DynamoDBClient;
  readonly streams: DynamoDBStreamsClient;
}

/** Reads a table's stream from its beginning until so many records of ops were seen; answers how many. */
export async function drain({ client, streams }: Clients, table: string, opsMax: number): Promise<number> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
  const StreamArn = Table?.LatestStreamArn;
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
  let ops = 0;
  for (const { ShardId } of StreamDescription?.Shards ?? []) {
    const at = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' as const };
    let { ShardIterator } = await streams.send(new GetShardIteratorCommand(at));
    while (ShardIterator !== undefined && ops < opsMax) {
      const page = await streams.send(new GetRecordsCommand({ ShardIterator, Limit: 1000 }));
      for (const { dynamodb } of page.Records ?? []) if (!/^(0|-)/.test(dynamodb?.Keys?.['seq']?.N ?? '0')) ops++;
      ShardIterator = page.NextShardIterator;
    }
  }
  return ops;
}
