import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { DescribeStreamCommand } from '@aws-sdk/client-dynamodb-streams';
import { faultOf, type DynamoClient } from '@tidemark/libs-driver-dynamodb';
import { Fault } from '@tidemark/libs-kernel';
import type { StreamsClient } from './client.ts';
import type { Shard } from './lineage.ts';

/** The newest stream of a table; it can be read for a day after it was switched off. */
export interface TableStream {
  readonly arn: string;
  /** Later streams of a table have later labels. */
  readonly label: string;
  readonly isOn: boolean;
}

/** null: the table never had a stream. */
export async function newestStream(
  client: DynamoClient,
  table: string,
  abortSignal: AbortSignal,
): Promise<TableStream | null> {
  const command = new DescribeTableCommand({ TableName: table });
  const { Table = {} } = await client.send(command, { abortSignal }).catch((thrown: unknown) => {
    throw faultOf(thrown, `the table "${table}"`);
  });
  const { LatestStreamArn: arn, LatestStreamLabel: label, StreamSpecification } = Table;
  if (arn === undefined) return null;
  return { arn, label: label ?? labelOf(arn), isOn: StreamSpecification?.StreamEnabled === true };
}

/** `arn:aws:dynamodb:REGION:ACCOUNT:table/NAME/stream/LABEL`. */
const labelOf = (arn: string) => arn.slice(arn.lastIndexOf('/') + 1);

/** Far above what a table can have: 100 shards each. */
const PAGES_MAX = 10_000;

/**
 * Every shard that DynamoDB lists now. Pages are not one moment's: a child may stand there without its parent, a parent and its child may
 * both look open, and neither is an error (F10).
 */
export async function listShards(
  streams: StreamsClient,
  arn: string,
  abortSignal: AbortSignal,
): Promise<Map<string, Shard>> {
  const shards = new Map<string, Shard>();
  let after: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const from = after === undefined ? {} : { ExclusiveStartShardId: after };
    const command = new DescribeStreamCommand({ StreamArn: arn, ...from });
    const { StreamDescription = {} } = await streams.send(command, { abortSignal }).catch((thrown: unknown) => {
      throw faultOf(thrown, `the stream ${arn}`);
    });
    for (const { ShardId: id, ParentShardId: parent = null } of StreamDescription.Shards ?? [])
      if (id !== undefined) shards.set(id, { id, parent });
    after = StreamDescription.LastEvaluatedShardId;
    if (after === undefined) return shards;
  }
  throw new Fault('internal', `the stream ${arn} lists shards without an end`);
}
