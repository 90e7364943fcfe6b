import { GetRecordsCommand, GetShardIteratorCommand } from '@aws-sdk/client-dynamodb-streams';
import { answerOf, faultOf, nameOf } from '@tidemark/libs-driver-dynamodb';
import type { FeedChange } from '@tidemark/libs-feed-contract';
import { backoffMs, type Clock, type Random } from '@tidemark/libs-kernel';
import type { StreamsClient } from './client.ts';
import { KEPT_MS, type LeaseRow, SHARD_END, TRIM_HORIZON } from './lease-row.ts';
import { readPage, type ReadPage } from './records.ts';
import type { StreamsLog, StreamsMetrics } from './report.ts';

export interface ShardParts {
  readonly streams: StreamsClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: StreamsLog;
  readonly metrics: StreamsMetrics;
  readonly pollMsMin: number;
  readonly pollMsMax: number;
  /** Resolves when it is stored that a census is to name what these records would have. */
  readonly lost: (reason: string) => Promise<void>;
}

export interface Step {
  readonly changes: readonly FeedChange[];
  readonly progress: string;
}

/** As many as DynamoDB hands out at once. */
const RECORDS_MAX = 1000;

/** An error that goes on is met again at most so often. */
const RETRY = { baseMs: 200, ceilingMs: 10_000 };

const OLD_TOLD_MS = 600_000;

/**
 * Reads one shard from a checkpoint on, one call at a time:
 *
 *     checkpoint ─▶ iterator ─▶ page ─▶ its next iterator ─▶ page ... ─▶ no next iterator: SHARD_END
 *                      ▲            │
 *                      └─ expired ──┘   AFTER_SEQUENCE_NUMBER of the last record that was read
 *
 * Only a page without a next iterator is the end: pages may be empty, and sequence ranges are not looked at (FLD-4). Sequence numbers are
 * passed on as they are and never compared. Records that were trimmed before they were read are asked of a census, and that is stored before
 * anything else is read.
 */
export class ShardReader {
  readonly #parts: ShardParts;
  readonly #arn: string;
  readonly #shardId: string;
  /** The last record that was read, or TRIM_HORIZON. */
  #at: string;
  #iterator: string | null = null;
  #pollMs: number;
  #attempt = 0;
  /** A census is wanted that names whatever was trimmed here since a page was read last. */
  #isCounted = false;
  #toldOldAtMs = -Infinity;
  /** When it may be read again, on the steady clock. */
  dueAtMs: number;
  /** As the row's, for its next write. */
  readAtMs: number;
  /** It was not there when it was last asked for; the next listing tells whether it is gone. */
  isMissing = false;

  constructor(parts: ShardParts, arn: string, shardId: string, { checkpoint, readAtMs }: LeaseRow) {
    this.#parts = parts;
    this.#arn = arn;
    this.#shardId = shardId;
    this.#at = checkpoint;
    this.readAtMs = readAtMs;
    this.#pollMs = parts.pollMsMin;
    this.dueAtMs = parts.clock.monotonic();
  }

  /** One page, or one step towards it; null: nothing new. Rejects with a Fault when the stream does not answer, and is due again later. */
  async step(signal: AbortSignal): Promise<Step | null> {
    try {
      this.#iterator ??= await this.#open(signal);
      const { Records = [], NextShardIterator } = await this.#page(this.#iterator, signal);
      this.#attempt = 0;
      this.#isCounted = false;
      const page = readPage(Records);
      this.#count(page);
      if (this.#at === TRIM_HORIZON) this.readAtMs = this.#parts.clock.now();
      this.#at = page.last ?? this.#at;
      this.#iterator = NextShardIterator ?? null;
      if (this.#iterator === null) return this.#end(page.changes, 'ended');
      this.#rest(Records.length);
      return page.last === null ? null : { changes: page.changes, progress: page.last };
    } catch (thrown) {
      return this.#recover(thrown);
    }
  }

  /** The shard is neither listed nor readable any more. */
  async vanished(): Promise<Step> {
    await this.#parts.lost(`shard ${this.#shardId} is gone`);
    return this.#end([], 'vanished');
  }

  async #open(signal: AbortSignal): Promise<string> {
    if (this.#at === TRIM_HORIZON) await this.#assertUntrimmed();
    const from =
      this.#at === TRIM_HORIZON
        ? { ShardIteratorType: 'TRIM_HORIZON' as const }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER' as const, SequenceNumber: this.#at };
    const command = new GetShardIteratorCommand({ StreamArn: this.#arn, ShardId: this.#shardId, ...from });
    const { ShardIterator } = await this.#parts.streams.send(command, { abortSignal: signal });
    if (ShardIterator === undefined) throw new Error(`shard ${this.#shardId}: no iterator`);
    return ShardIterator;
  }

  /** From its oldest record on a shard is read without a word about older ones that were trimmed. */
  async #assertUntrimmed(): Promise<void> {
    const nowMs = this.#parts.clock.now();
    if (Math.abs(nowMs - this.readAtMs) < KEPT_MS) return;
    await this.#parts.lost(`shard ${this.#shardId} was not read for long`);
    this.readAtMs = nowMs;
  }

  #page(ShardIterator: string, signal: AbortSignal) {
    this.#parts.metrics.call();
    const command = new GetRecordsCommand({ ShardIterator, Limit: RECORDS_MAX });
    return this.#parts.streams.send(command, { abortSignal: signal });
  }

  #end(changes: readonly FeedChange[], event: 'ended' | 'vanished'): Step {
    this.dueAtMs = Infinity;
    this.isMissing = false;
    this.#parts.metrics.shard(event);
    return { changes, progress: SHARD_END };
  }

  /** A full page has more behind it; an empty one says that there is less to read now than this often. */
  #rest(records: number): void {
    const { clock, pollMsMin, pollMsMax } = this.#parts;
    this.#pollMs = records > 0 ? pollMsMin : Math.min(2 * this.#pollMs, pollMsMax);
    this.dueAtMs = clock.monotonic() + (records >= RECORDS_MAX ? 0 : this.#pollMs);
  }

  async #recover(thrown: unknown): Promise<Step | null> {
    const isOpening = this.#iterator === null;
    this.#iterator = null;
    this.#backOff();
    const { metrics } = this.#parts;
    switch (nameOf(thrown)) {
      case 'ExpiredIteratorException':
        metrics.shard('iterator_expired');
        return null;
      case 'TrimmedDataAccessException':
        return this.#trimmed();
      case 'ResourceNotFoundException':
        this.isMissing = true;
        return null;
      case 'ValidationException':
        // A checkpoint that is no sequence number of this shard leads nowhere for ever.
        if (isOpening && this.#at !== TRIM_HORIZON) return this.#trimmed();
    }
    metrics.shard(answerOf(thrown) === 'throttled' ? 'throttled' : 'fault');
    throw faultOf(thrown, `the stream's shard ${this.#shardId}`);
  }

  async #trimmed(): Promise<Step> {
    if (!this.#isCounted) await this.#parts.lost(`shard ${this.#shardId} is trimmed behind ${this.#at}`);
    this.#parts.metrics.shard('trimmed');
    this.#isCounted = true;
    // Trimmed at its very start: it may be gone altogether.
    this.isMissing = this.#at === TRIM_HORIZON;
    this.#at = TRIM_HORIZON;
    return { changes: [], progress: TRIM_HORIZON };
  }

  /** The first repeat comes at once. */
  #backOff(): void {
    const { clock, random } = this.#parts;
    const waitMs = this.#attempt === 0 ? 0 : backoffMs(this.#attempt - 1, RETRY, random);
    this.#attempt++;
    this.dueAtMs = clock.monotonic() + waitMs;
  }

  #count({ kinds, madeAtMs }: ReadPage): void {
    const { metrics, clock, log } = this.#parts;
    for (const [kind, count] of kinds) metrics.records(kind, count);
    if (madeAtMs === null) return;
    const ageMs = Math.max(0, clock.now() - madeAtMs);
    metrics.recordAgeMs(ageMs);
    if (ageMs < KEPT_MS || clock.monotonic() - this.#toldOldAtMs < OLD_TOLD_MS) return;
    this.#toldOldAtMs = clock.monotonic();
    log.warn({ shard: this.#shardId, ageMs }, 'records are read late; DynamoDB trims them after 24 hours');
  }
}
