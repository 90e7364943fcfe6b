/** Where the feed tells what an operator should know. A pino logger fits. */
export interface StreamsLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What a record was of: an op or a counter names its stream; the others are left out. */
export type RecordKind = 'op' | 'counter' | 'claim' | 'removed' | 'unknown';

/** How reading a shard went on. */
export type ShardEvent =
  /** Read to its end. */
  | 'ended'
  /** Its records were trimmed before they were read: a census names what they would have. */
  | 'trimmed'
  /** It is neither listed nor readable any more; as trimmed. */
  | 'vanished'
  | 'iterator_expired'
  | 'throttled'
  | 'fault';

export type LeaseEvent = 'taken' | 'taken_over' | 'stolen' | 'lost' | 'released';

export interface StreamsMetrics {
  /** One GetRecords call, empty pages included: what AWS bills. */
  call(): void;
  records(kind: RecordKind, count: number): void;
  shard(event: ShardEvent): void;
  lease(event: LeaseEvent): void;
  /** Shards and census segments that this worker holds now. */
  held(shards: number, segments: number): void;
  /** Age of the newest record that was read last of a shard, by the wall clocks of AWS and this host; records are trimmed at 24 h. */
  recordAgeMs(ms: number): void;
  /** Streams that a census named. */
  census(streams: number): void;
}

export const SILENT_LOG: StreamsLog = { info() {}, warn() {}, error() {} };
export const NO_METRICS: StreamsMetrics = {
  call() {},
  records() {},
  shard() {},
  lease() {},
  held() {},
  recordAgeMs() {},
  census() {},
};
