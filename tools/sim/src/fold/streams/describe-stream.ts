import type { DescribeStreamCommandInput } from '@aws-sdk/client-dynamodb-streams';
import { fnv1a32 } from '@tidemark/libs-wire';
import { type Request, output } from '../../dynamo/request.ts';
import type { Shard } from './shard.ts';
import type { SimStreams } from './sim-streams.ts';

const SHARDS_MAX = 100;

/**
 * One page of the list of shards, in an order that says nothing. New shards and ends of old ones are listed late, and a shard may be
 * missing from a page though it was in an earlier one: pages are eventually consistent.
 */
export function describeStream(streams: SimStreams, request: Request, input: DescribeStreamCommandInput): void {
  streams.limit();
  const { dynamo, weather, viewType, table } = streams;
  const tree = streams.tree(input.StreamArn);
  const isCurrent = tree === streams.current && streams.isEnabled;
  const { nowMs } = dynamo.scheduler;
  const filter = input.ShardFilter;
  const listed = tree.shards
    .filter(({ listedMs }) => listedMs <= nowMs)
    .filter((shard) => filter?.Type !== 'CHILD_SHARDS' || shard.parent?.id === filter.ShardId)
    .sort((a, b) => place(a.id) - place(b.id));
  const from = input.ExclusiveStartShardId === undefined ? -1 : place(input.ExclusiveStartShardId);
  const rest = listed.filter(({ id }) => place(id) > from);
  const page = rest.slice(0, Math.min(input.Limit ?? SHARDS_MAX, weather.describeShardsMax));
  const kept = page.filter(() => !dynamo.misfortune(weather.omitted));
  countLineage(streams, listed, kept, nowMs);
  const last = page.length < rest.length ? page.at(-1) : undefined;
  const StreamDescription = {
    StreamArn: tree.arn,
    StreamLabel: tree.label,
    StreamStatus: isCurrent ? 'ENABLED' : 'DISABLED',
    StreamViewType: viewType,
    TableName: table,
    Shards: kept.map((shard) => described(shard, nowMs)),
    ...(last === undefined ? {} : { LastEvaluatedShardId: last.id }),
  };
  request.reply(output({ StreamDescription }));
}

/** Sorts shards in an order of its own. */
const place = (id: string) => fnv1a32(id);

function described({ id, parent, startsWith, lastSequenceNumber, closeListedMs }: Shard, nowMs: number) {
  return {
    ShardId: id,
    ...(parent === null ? {} : { ParentShardId: parent.id }),
    SequenceNumberRange: {
      StartingSequenceNumber: String(startsWith),
      ...(closeListedMs <= nowMs ? { EndingSequenceNumber: String(lastSequenceNumber) } : {}),
    },
  };
}

function countLineage(
  { anomalies }: SimStreams,
  listed: readonly Shard[],
  kept: readonly Shard[],
  nowMs: number,
): void {
  for (const { parent } of kept) {
    if (parent === null || parent.isFinished) continue;
    if (!listed.includes(parent) || parent.closeListedMs > nowMs) anomalies.lineage++;
  }
}
