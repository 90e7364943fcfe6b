import type {
  DescribeStreamCommandInput,
  GetRecordsCommandInput,
  GetShardIteratorCommandInput,
} from '@aws-sdk/client-dynamodb-streams';
import { onChange } from '../../dynamo/change-records.ts';
import { DynamoError, invalid } from '../../dynamo/errors.ts';
import { type Request, output } from '../../dynamo/request.ts';
import type { SimDynamo } from '../../dynamo/sim-dynamo.ts';
import { describeStream } from './describe-stream.ts';
import { getRecords, getShardIterator } from './get-records.ts';
import { Shard } from './shard.ts';
import { ShardTree } from './shard-tree.ts';
import { type StreamsAnomalies, type StreamsWeather, calmStreams, noStreamsAnomalies } from './streams-weather.ts';

export type StreamViewType = 'KEYS_ONLY' | 'NEW_IMAGE' | 'NEW_AND_OLD_IMAGES';

/**
 * The stream of the simulated table: at least once, in order for each item alone, in shards that come and go, for 24 hours. Everything
 * that the documentation leaves open happens, as the weather has it.
 */
export class SimStreams {
  readonly dynamo: SimDynamo;
  readonly table: string;
  readonly viewType: StreamViewType;
  readonly anomalies: StreamsAnomalies = noStreamsAnomalies();
  /** What a reader did that no reader may do. */
  readonly violations: string[] = [];
  weather: StreamsWeather;
  /** The one that is enabled is the last. */
  readonly #trees: ShardTree[] = [];
  #isEnabled = false;

  constructor(
    dynamo: SimDynamo,
    table: string,
    weather: StreamsWeather = calmStreams,
    viewType: StreamViewType = 'NEW_IMAGE',
  ) {
    this.dynamo = dynamo;
    this.table = table;
    this.weather = weather;
    this.viewType = viewType;
    this.enable();
    const delayMs = () =>
      dynamo.scheduler.between(
        dynamo.misfortune(this.weather.delayed) ? this.weather.delayedMs : this.weather.propagateMs,
      );
    onChange(dynamo, delayMs, (change) => {
      if (this.#isEnabled) this.current.add(change);
    });
    dynamo.serve('DescribeTable', (request) => this.#describeTable(request));
    dynamo.serve('DescribeStream', (request) =>
      describeStream(this, request, request.input as unknown as DescribeStreamCommandInput),
    );
    dynamo.serve('GetShardIterator', (request) =>
      getShardIterator(this, request, request.input as unknown as GetShardIteratorCommandInput),
    );
    dynamo.serve('GetRecords', (request) =>
      getRecords(this, request, request.input as unknown as GetRecordsCommandInput),
    );
  }

  get current(): ShardTree {
    return this.#trees.at(-1) as ShardTree;
  }

  /** A stream that is enabled again is another one; nothing of the time between is in either. */
  enable(): void {
    if (this.#isEnabled) return;
    const { scheduler } = this.dynamo;
    const label = `2026-11-30T00:00:00.${String(this.#trees.length + 1).padStart(3, '0')}`;
    const arn = `arn:aws:dynamodb:eu-central-1:000000000000:table/${this.table}/stream/${label}`;
    if (this.#trees.length > 0) this.anomalies.newArn++;
    this.#trees.push(new ShardTree(arn, scheduler, this.weather, this.anomalies));
    this.#isEnabled = true;
  }

  disable(): void {
    this.current.closeAll();
    this.#isEnabled = false;
  }

  get isEnabled(): boolean {
    return this.#isEnabled;
  }

  /** Trimmed as of now. */
  tree(arn: string | undefined): ShardTree {
    const tree = this.#trees.find((one) => one.arn === arn);
    if (tree === undefined) throw notFound(`stream ${arn}`);
    tree.trim();
    if (tree.shards.length === 0) throw notFound(`stream ${arn}`);
    return tree;
  }

  shard(arn: string | undefined, id: string | undefined): Shard {
    const shard = this.tree(arn).shards.find((one) => one.id === id);
    if (shard === undefined) throw notFound(`shard ${id}`);
    return shard;
  }

  /** By its name, also when it is gone; undefined for one that never was. */
  everShard(id: string): Shard | undefined {
    return this.#trees.map((tree) => tree.ever.get(id)).find((shard) => shard !== undefined);
  }

  isThere(shard: Shard): boolean {
    return this.#trees.some(({ shards }) => shards.includes(shard));
  }

  /** Throws where the service is busy. */
  limit(): void {
    if (!this.dynamo.misfortune(this.weather.limited)) return;
    this.anomalies.limited++;
    throw new DynamoError('LimitExceededException', 'Subscriber limit exceeded');
  }

  wrong(what: string): void {
    if (this.violations.length < 20) this.violations.push(what);
  }

  #describeTable(request: Request): void {
    const { TableName } = request.input as { TableName?: string };
    if (TableName === undefined) throw invalid('TableName');
    const isOps = TableName === this.table;
    const streamed = {
      LatestStreamArn: this.current.arn,
      LatestStreamLabel: this.current.label,
      ...(this.#isEnabled ? { StreamSpecification: { StreamEnabled: true, StreamViewType: this.viewType } } : {}),
    };
    request.reply(output({ Table: { TableName, TableStatus: 'ACTIVE', ...(isOps ? streamed : {}) } }));
  }
}

export const notFound = (what: string) =>
  new DynamoError('ResourceNotFoundException', `Requested resource not found: ${what}`);
