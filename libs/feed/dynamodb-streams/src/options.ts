import type { DynamoClient } from '@tidemark/libs-driver-dynamodb';
import type { Clock, Random, Sleeper } from '@tidemark/libs-kernel';
import type { StreamsClient } from './client.ts';
import { NO_METRICS, SILENT_LOG, type StreamsLog, type StreamsMetrics } from './report.ts';

export interface DynamodbStreamsFeedOptions {
  /** DescribeTable, Scan, GetItem and Query of the ops table; Query, GetItem, PutItem and DeleteItem of the leases table. */
  readonly client: DynamoClient;
  readonly streams: StreamsClient;
  /** The relay's table of ops, claims and counters, whose stream is read. */
  readonly opsTable: string;
  readonly leasesTable: string;
  /** Of the fold. Folds of different names share neither leases nor checkpoints, also in one leases table. */
  readonly name: string;
  /** Shown as the owner of leases. Two workers of one id are two workers. */
  readonly workerId: string;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log?: StreamsLog;
  readonly metrics?: StreamsMetrics;
  /** A lease that was not renewed for so long, as another worker saw it, may be taken. Renewed three times as often. Default 15,000. */
  readonly leaseMs?: number;
  /** Wait before a shard that had records is read again; it doubles while nothing comes, up to pollMsMax. Default 200. */
  readonly pollMsMin?: number;
  /** Default 1000. */
  readonly pollMsMax?: number;
  /** How often the shards are listed, beside whenever one has ended. Default 30,000. */
  readonly discoveryMs?: number;
  /** For how long a parent that was never seen must stay away from the listings until it counts as trimmed. Default 10,000. */
  readonly lineageMs?: number;
  /** A checkpoint is stored at most so often for each shard; what is newer is stored with the next renewal. Default 1000. */
  readonly checkpointMs?: number;
  /** How often every stream of the table is named again. Default 6 h; 0: only when something was lost. */
  readonly censusMs?: number;
  /** Parts of a census, which workers share. Default 8. */
  readonly segments?: number;
  /** Read units a second that the censuses of this worker take of the ops table at most. Default 500. */
  readonly censusUnitsPerSecond?: number;
}

export function withDefaults(options: DynamodbStreamsFeedOptions): Required<DynamodbStreamsFeedOptions> {
  return {
    log: SILENT_LOG,
    metrics: NO_METRICS,
    leaseMs: 15_000,
    pollMsMin: 200,
    pollMsMax: 1000,
    discoveryMs: 30_000,
    lineageMs: 10_000,
    checkpointMs: 1000,
    censusMs: 6 * 3_600_000,
    segments: 8,
    censusUnitsPerSecond: 500,
    ...options,
  };
}
