type Bounds = readonly [number, number];

/** What the stream of a table does to its readers, within what is documented of it. */
export interface StreamsWeather {
  /** Open shards at the start. */
  readonly shards: number;
  /** How long records are kept, and how much longer until they are really gone. */
  readonly retentionMs: number;
  readonly trimLagMs: number;
  readonly iteratorMs: number;
  /** From the end of a transaction to each of its records in the stream; some take much longer. */
  readonly propagateMs: Bounds;
  readonly delayed: number;
  readonly delayedMs: Bounds;
  /** Share of GetRecords that bring nothing although there is something, and of those that bring only a part. */
  readonly emptyPage: number;
  readonly partialPage: number;
  /** A shard that was read to its end says so one empty page later. */
  readonly lateEnd: number;
  /** Share of calls that are answered LimitExceededException. */
  readonly limited: number;
  /** Until a new shard, and the end of a closed one, are listed. */
  readonly listMs: Bounds;
  /** Share of shards that one page of DescribeStream leaves out. */
  readonly omitted: number;
  readonly describeShardsMax: number;
}

export const DAY_MS = 24 * 3600_000;

export const calmStreams: StreamsWeather = {
  shards: 1,
  retentionMs: DAY_MS,
  trimLagMs: 0,
  iteratorMs: 15 * 60_000,
  propagateMs: [1, 50],
  delayed: 0,
  delayedMs: [1000, 10_000],
  emptyPage: 0,
  partialPage: 0,
  lateEnd: 0,
  limited: 0,
  listMs: [0, 0],
  omitted: 0,
  describeShardsMax: 100,
};

export const stormyStreams: StreamsWeather = {
  ...calmStreams,
  shards: 2,
  trimLagMs: 600_000,
  propagateMs: [1, 400],
  delayed: 0.05,
  emptyPage: 0.2,
  partialPage: 0.3,
  lateEnd: 0.5,
  limited: 0.03,
  listMs: [0, 10_000],
  omitted: 0.1,
  describeShardsMax: 2,
};

/** What a run did to the readers of the stream. A set of runs in which one of them is 0 proves less than it seems to. */
export interface StreamsAnomalies {
  /** A record came into the stream after one of a higher seq of its relay stream. */
  reordered: number;
  /** A record was handed out again. */
  repeated: number;
  /** A record came a second or more after its write. */
  delayed: number;
  /** One relay stream was cut over two shards. */
  split: number;
  rolled: number;
  /** A record was gone before anybody read it, or a position pointed at one that was gone. */
  trimmed: number;
  /** An iterator was used too late. */
  expired: number;
  /** A shard was read by another process than before. */
  handOver: number;
  emptyPage: number;
  limited: number;
  /** A child was listed and its parent was not, or not as closed. */
  lineage: number;
  newArn: number;
}

export const noStreamsAnomalies = (): StreamsAnomalies => ({
  reordered: 0,
  repeated: 0,
  delayed: 0,
  split: 0,
  rolled: 0,
  trimmed: 0,
  expired: 0,
  handOver: 0,
  emptyPage: 0,
  limited: 0,
  lineage: 0,
  newArn: 0,
});
