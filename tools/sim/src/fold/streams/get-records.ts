import type { GetRecordsCommandInput, GetShardIteratorCommandInput } from '@aws-sdk/client-dynamodb-streams';
import { DynamoError, invalid } from '../../dynamo/errors.ts';
import { type Request, output } from '../../dynamo/request.ts';
import { EPOCH_MS } from '../../scheduler/sim-process.ts';
import type { Shard, StreamRecord } from './shard.ts';
import type { SimStreams } from './sim-streams.ts';

const RECORDS_MAX = 1000;
/** More processes than these are too many for one shard. */
const READERS_MAX = 2;
const READERS_WINDOW_MS = 1000;

/** Names a place in a shard, for a while. */
export function getShardIterator(streams: SimStreams, request: Request, input: GetShardIteratorCommandInput): void {
  streams.limit();
  const { StreamArn, ShardId, ShardIteratorType } = input;
  const shard = streams.shard(StreamArn, ShardId);
  const position = positionOf(shard, input);
  // The service may look now, or when the iterator is used.
  if (position < shard.begin && streams.dynamo.scheduler.choices.pick(2) === 0) throw trimmed(streams);
  if (ShardIteratorType === 'LATEST') streams.wrong(`FLD-4: ${request.from} begins ${shard.id} at LATEST`);
  const madeMs = streams.dynamo.scheduler.nowMs;
  request.reply(output({ ShardIterator: written({ arn: StreamArn as string, shard: shard.id, position, madeMs }) }));
}

/** What comes next in a shard: some of it, or nothing for now. Only a missing NextShardIterator says that there will never be more. */
export function getRecords(streams: SimStreams, request: Request, input: GetRecordsCommandInput): void {
  streams.limit();
  const { scheduler } = streams.dynamo;
  const iterator = read(input.ShardIterator);
  const shard = streams.shard(iterator.arn, iterator.shard);
  if (scheduler.nowMs - iterator.madeMs > streams.weather.iteratorMs) {
    streams.anomalies.expired++;
    throw new DynamoError('ExpiredIteratorException', 'Iterator expired');
  }
  if (iterator.position < shard.begin) throw trimmed(streams);
  admit(streams, shard, request.from);
  const records = shard.from(iterator.position, pageSize(streams, shard, iterator.position, input.Limit));
  const position = iterator.position + records.length;
  const isEnd = !shard.isOpen && position === shard.end;
  const isToldLater = isEnd && records.length > 0 && streams.dynamo.misfortune(streams.weather.lateEnd);
  if (isEnd && !isToldLater) shard.isFinished = true;
  deliver(streams, records);
  const next = { ...iterator, position, madeMs: scheduler.nowMs };
  const Records = records.map((record) => recordOf(streams, record));
  request.reply(output({ Records, ...(isEnd && !isToldLater ? {} : { NextShardIterator: written(next) }) }));
}

function positionOf(shard: Shard, { ShardIteratorType, SequenceNumber }: GetShardIteratorCommandInput): number {
  switch (ShardIteratorType) {
    case 'TRIM_HORIZON':
      return shard.begin;
    case 'LATEST':
      return shard.end;
    case 'AT_SEQUENCE_NUMBER':
    case 'AFTER_SEQUENCE_NUMBER': {
      if (SequenceNumber === undefined || !/^\d{1,40}$/.test(SequenceNumber)) throw invalid('SequenceNumber');
      const number = BigInt(SequenceNumber);
      if (!shard.hasHeld(number)) throw invalid(`Invalid SequenceNumber ${SequenceNumber} of shard ${shard.id}`);
      const position = shard.positionOf(number);
      if (position === null) return number === shard.startsWith && shard.begin === 0 ? 0 : -1;
      return ShardIteratorType === 'AT_SEQUENCE_NUMBER' ? position : position + 1;
    }
    default:
      throw invalid(`ShardIteratorType ${ShardIteratorType}`);
  }
}

function trimmed({ anomalies }: SimStreams): DynamoError {
  anomalies.trimmed++;
  return new DynamoError('TrimmedDataAccessException', 'The operation attempted to read past the oldest stream record');
}

/** Counts who reads, and judges whether it may: not a child whose parent still has records that nobody read to the end. */
function admit(streams: SimStreams, shard: Shard, from: string): void {
  const { scheduler } = streams.dynamo;
  shard.readers.set(from, scheduler.nowMs);
  for (const [reader, atMs] of shard.readers)
    if (scheduler.nowMs - atMs > READERS_WINDOW_MS) shard.readers.delete(reader);
  if (shard.readers.size > READERS_MAX) {
    streams.anomalies.limited++;
    throw new DynamoError('LimitExceededException', 'Too many readers of one shard');
  }
  if (shard.lastReader !== null && shard.lastReader !== from) streams.anomalies.handOver++;
  shard.lastReader = from;
  const { parent } = shard;
  if (parent !== null && !parent.isFinished && parent.begin < parent.end)
    streams.wrong(`FLD-4: ${from} reads ${shard.id} before its parent ${parent.id} was read to its end`);
}

function pageSize(streams: SimStreams, shard: Shard, position: number, limit = RECORDS_MAX): number {
  if (limit < 1 || limit > RECORDS_MAX) throw invalid('Limit');
  const { dynamo, weather, anomalies } = streams;
  const there = Math.min(shard.end - position, limit);
  if (there === 0) return 0;
  if (dynamo.misfortune(weather.emptyPage)) {
    anomalies.emptyPage++;
    return 0;
  }
  return dynamo.misfortune(weather.partialPage) ? 1 + dynamo.scheduler.choices.pick(there) : there;
}

function deliver({ anomalies }: SimStreams, records: readonly StreamRecord[]): void {
  for (const record of records) if (record.deliveries++ > 0) anomalies.repeated++;
}

function recordOf({ viewType }: SimStreams, { change, sequenceNumber, streamedMs }: StreamRecord) {
  const { before, after, stream, seq } = change;
  const Keys = { stream_id: { S: stream }, seq: { N: String(seq) } };
  const NewImage = viewType === 'KEYS_ONLY' || after === null ? {} : { NewImage: { ...after } };
  const OldImage = viewType !== 'NEW_AND_OLD_IMAGES' || before === null ? {} : { OldImage: { ...before } };
  const ApproximateCreationDateTime = new Date(EPOCH_MS + Math.floor(streamedMs / 1000) * 1000);
  return {
    eventID: String(sequenceNumber),
    eventName: before === null ? 'INSERT' : after === null ? 'REMOVE' : 'MODIFY',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    dynamodb: {
      ApproximateCreationDateTime,
      Keys,
      ...NewImage,
      ...OldImage,
      SequenceNumber: String(sequenceNumber),
      StreamViewType: viewType,
    },
  };
}

interface Iterator {
  readonly arn: string;
  readonly shard: string;
  readonly position: number;
  readonly madeMs: number;
}

/** Opaque to readers. */
const written = ({ arn, shard, position, madeMs }: Iterator) =>
  Buffer.from(JSON.stringify([arn, shard, position, madeMs])).toString('base64');

function read(text: string | undefined): Iterator {
  try {
    const [arn, shard, position, madeMs] = JSON.parse(Buffer.from(text ?? '', 'base64').toString()) as [
      string,
      string,
      number,
      number,
    ];
    return { arn, shard, position, madeMs };
  } catch {
    throw invalid('Invalid ShardIterator');
  }
}
