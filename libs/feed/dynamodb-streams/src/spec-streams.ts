import type { Clock } from '@tidemark/libs-kernel';
import type { StreamsClient } from './client.ts';
import { awsError, type SpecCall, SpecSdk } from './spec-dynamo.ts';

interface SpecRecord {
  readonly sequence: string;
  readonly stream: string;
  readonly seq: bigint;
  readonly madeAt: Date | undefined;
}

export interface SpecShard {
  readonly id: string;
  readonly parent: string | null;
  readonly records: SpecRecord[];
  isClosed: boolean;
  /** Whether DescribeStream shows it. */
  isListed: boolean;
  /** Whether it can be read. */
  isThere: boolean;
  /** Records before this one are trimmed. */
  trimmed: number;
  /** Pages without a record before each one with some. */
  emptyPages: number;
}

const ITERATOR_MS = 15 * 60_000;

/** A stream of DynamoDB as its documentation has it, that does what a test tells it to. */
export class SpecStreams extends SpecSdk {
  readonly shards = new Map<string, SpecShard>();
  readonly #clock: Clock;
  #sequences = 10n ** 20n;
  shardsPerPage = 100;
  recordsPerPage = 1000;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  get client(): StreamsClient {
    return this as unknown as StreamsClient;
  }

  shard(id: string, parent: string | null = null): SpecShard {
    const shard = {
      id,
      parent,
      records: [],
      isClosed: false,
      isListed: true,
      isThere: true,
      trimmed: 0,
      emptyPages: 0,
    };
    this.shards.set(id, shard);
    return shard;
  }

  /** The record of an op. */
  append(shard: SpecShard, stream: string, seq: bigint, madeAt?: Date): void {
    this.#sequences += 7n;
    shard.records.push({ sequence: String(this.#sequences), stream, seq, madeAt });
  }

  /** Shards of GetRecords calls, in their order. */
  readsOf(): string[] {
    const reads = this.sent.filter(({ name }) => name === 'GetRecords');
    return reads.map(({ input }) => (JSON.parse(input.ShardIterator) as { id: string }).id);
  }

  iterators(): { readonly ShardId: string; readonly ShardIteratorType: string; readonly SequenceNumber?: string }[] {
    return this.sent.filter(({ name }) => name === 'GetShardIterator').map(({ input }) => input);
  }

  protected answer({ name, input }: SpecCall): unknown {
    switch (name) {
      case 'DescribeStream':
        return { StreamDescription: this.#describe(input.ExclusiveStartShardId) };
      case 'GetShardIterator':
        return { ShardIterator: this.#iterator(input) };
      case 'GetRecords':
        return this.#records(JSON.parse(input.ShardIterator));
    }
    throw new Error(`what is ${name}?`);
  }

  #describe(after: string | undefined) {
    const listed = [...this.shards.values()].filter(({ isListed }) => isListed);
    const from = after === undefined ? 0 : 1 + listed.findIndex(({ id }) => id === after);
    const page = listed.slice(from, from + this.shardsPerPage);
    const Shards = page.map(({ id, parent }) => ({
      ShardId: id,
      ...(parent === null ? {} : { ParentShardId: parent }),
      // As the stand-in has it, also of an open shard: it means nothing.
      SequenceNumberRange: { StartingSequenceNumber: '1', EndingSequenceNumber: '999' },
    }));
    return from + page.length < listed.length ? { Shards, LastEvaluatedShardId: page.at(-1)?.id } : { Shards };
  }

  #iterator({ ShardId, ShardIteratorType, SequenceNumber }: SpecCall['input']): string {
    const shard = this.#there(ShardId);
    if (ShardIteratorType === 'TRIM_HORIZON') return this.#made(shard.id, shard.trimmed, 0);
    const index = shard.records.findIndex(({ sequence }) => sequence === SequenceNumber);
    if (index < 0) throw awsError('ValidationException', 'Invalid SequenceNumber');
    if (index < shard.trimmed) throw awsError('TrimmedDataAccessException');
    return this.#made(shard.id, index + 1, 0);
  }

  #made(id: string, index: number, empty: number): string {
    return JSON.stringify({ id, index, empty, madeAtMs: this.#clock.monotonic() });
  }

  #records({ id, index, empty, madeAtMs }: { id: string; index: number; empty: number; madeAtMs: number }) {
    const shard = this.#there(id);
    if (this.#clock.monotonic() - madeAtMs > ITERATOR_MS) throw awsError('ExpiredIteratorException');
    if (index < shard.trimmed) throw awsError('TrimmedDataAccessException');
    if (empty < shard.emptyPages) return { Records: [], NextShardIterator: this.#made(id, index, empty + 1) };
    const page = shard.records.slice(index, index + this.recordsPerPage);
    const next = index + page.length;
    const isEnd = shard.isClosed && next === shard.records.length;
    return {
      Records: page.map(({ sequence, stream, seq, madeAt }) => ({
        eventName: 'INSERT',
        dynamodb: {
          Keys: { stream_id: { S: stream }, seq: { N: String(seq) } },
          SequenceNumber: sequence,
          ApproximateCreationDateTime: madeAt,
        },
      })),
      ...(isEnd ? {} : { NextShardIterator: this.#made(id, next, 0) }),
    };
  }

  #there(id: string): SpecShard {
    const shard = this.shards.get(id);
    if (shard?.isThere !== true) throw awsError('ResourceNotFoundException');
    return shard;
  }
}
