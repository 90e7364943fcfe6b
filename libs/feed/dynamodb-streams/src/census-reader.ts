import { GetItemCommand, QueryCommand, ScanCommand, type ScanCommandOutput } from '@aws-sdk/client-dynamodb';
import { faultOf, nameOf, type DynamoClient } from '@tidemark/libs-driver-dynamodb';
import type { FeedChange } from '@tidemark/libs-feed-contract';
import { backoffMs, type Clock, type Random } from '@tidemark/libs-kernel';
import { I64_MAX } from '@tidemark/libs-wire';
import { type SeenStream, headOf, streamsOf } from './census-page.ts';
import { type ScanKey, type SegmentState, segmentText } from './control.ts';
import type { StreamsLog, StreamsMetrics } from './report.ts';
import type { Step } from './shard-reader.ts';

export interface CensusParts {
  readonly client: DynamoClient;
  readonly opsTable: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: StreamsLog;
  readonly metrics: StreamsMetrics;
  readonly pace: Pace;
}

/** When the table may be asked again, shared by all segments of a worker. */
export class Pace {
  readonly #clock: Clock;
  readonly #unitsPerSecond: number;
  #freeAtMs = -Infinity;

  constructor(clock: Clock, unitsPerSecond: number) {
    this.#clock = clock;
    this.#unitsPerSecond = unitsPerSecond;
  }

  get freeAtMs(): number {
    return this.#freeAtMs;
  }

  spend(units: number): void {
    const fromMs = Math.max(this.#freeAtMs, this.#clock.monotonic());
    this.#freeAtMs = fromMs + (units * 1000) / this.#unitsPerSecond;
  }
}

/** Items of a page: of a stream with more, the rest is jumped over. */
const ITEMS_MAX = 250;

const RETRY = { baseMs: 200, ceilingMs: 10_000 };
const PROGRESS_MS = 60_000;

/**
 * Names every stream of one segment of the ops table, page by page. A stream's items stand together, its claims before its counter before its
 * ops, so a page that ends inside a stream asks for its counter and goes on behind all of it: a stream costs one page and one read, however
 * long it is. Reads are strong: whatever was acknowledged before its page is named.
 */
export class CensusReader {
  readonly #parts: CensusParts;
  readonly #segment: number;
  #state: SegmentState;
  #jumps = true;
  /** Where the last page really ended; null: not known here. */
  #ended: ScanKey | null = null;
  #attempt = 0;
  #dueAtMs = -Infinity;
  #named = 0;
  #toldAtMs: number;

  constructor(parts: CensusParts, segment: number, state: SegmentState) {
    this.#parts = parts;
    this.#segment = segment;
    this.#state = state;
    this.#toldAtMs = parts.clock.monotonic();
  }

  get dueAtMs(): number {
    return Math.max(this.#dueAtMs, this.#parts.pace.freeAtMs);
  }

  /** One page. Rejects with a Fault when the table does not answer, and is due again later. */
  async step(signal: AbortSignal): Promise<Step | null> {
    const { metrics, opsTable } = this.#parts;
    try {
      const page = await this.#scan(signal);
      const seen = streamsOf(page.Items ?? []);
      const last = page.LastEvaluatedKey === undefined ? undefined : seen.at(-1);
      const heads: FeedChange[] = [];
      for (const one of seen) {
        const head = await this.#head(one, one === last, signal);
        if (head > 0n) heads.push({ stream: one.stream, head });
      }
      this.#attempt = 0;
      this.#named += heads.length;
      metrics.census(heads.length);
      return { changes: heads, progress: this.#goOn(page.LastEvaluatedKey, last) };
    } catch (thrown) {
      this.#backOff();
      if (nameOf(thrown) !== 'ValidationException' || !this.#jumps || this.#state.after === null)
        throw faultOf(thrown, `the table "${opsTable}"`);
      // The made-up key that a jump goes on from is not taken here: every page is read then.
      this.#jumps = false;
      this.#state = { ...this.#state, after: this.#ended };
      return null;
    }
  }

  async #scan(signal: AbortSignal): Promise<ScanCommandOutput> {
    const { client, opsTable, pace } = this.#parts;
    const { after, segments } = this.#state;
    const command = new ScanCommand({
      TableName: opsTable,
      Segment: this.#segment,
      TotalSegments: segments,
      ConsistentRead: true,
      Limit: ITEMS_MAX,
      ProjectionExpression: 'stream_id, seq, next_seq',
      ReturnConsumedCapacity: 'TOTAL',
      ...(Array.isArray(after) ? { ExclusiveStartKey: { stream_id: { S: after[0] }, seq: { N: after[1] } } } : {}),
    });
    const page = await client.send(command, { abortSignal: signal });
    pace.spend(page.ConsumedCapacity?.CapacityUnits ?? page.ScannedCount ?? 1);
    return page;
  }

  /** The counter, or the newest op where there is none or it cannot be read; 0 for a stream without ops. */
  async #head(seen: SeenStream, isCut: boolean, signal: AbortSignal): Promise<bigint> {
    const counter = isCut && seen.counter === 'unseen' ? await this.#counter(seen.stream, signal) : seen.counter;
    if (counter === 'unreadable')
      this.#parts.log.warn({ stream: seen.stream }, 'the counter of a stream cannot be read; its newest op counts');
    const isSettled = typeof counter === 'bigint' || !isCut;
    return isSettled ? headOf({ ...seen, counter }) : this.#top(seen.stream, signal);
  }

  async #counter(stream: string, signal: AbortSignal): Promise<SeenStream['counter']> {
    const { client, opsTable: TableName, pace } = this.#parts;
    const Key = { stream_id: { S: stream }, seq: { N: '0' } };
    const { Item } = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }), {
      abortSignal: signal,
    });
    pace.spend(1);
    return Item === undefined ? 'unseen' : (streamsOf([Item])[0]?.counter ?? 'unseen');
  }

  async #top(stream: string, signal: AbortSignal): Promise<bigint> {
    const { client, opsTable: TableName, pace } = this.#parts;
    const command = new QueryCommand({
      TableName,
      KeyConditionExpression: 'stream_id = :stream AND seq > :zero',
      ExpressionAttributeValues: { ':stream': { S: stream }, ':zero': { N: '0' } },
      ProjectionExpression: 'stream_id, seq',
      ScanIndexForward: false,
      ConsistentRead: true,
      Limit: 1,
    });
    const { Items = [] } = await client.send(command, { abortSignal: signal });
    pace.spend(1);
    return streamsOf(Items)[0]?.top ?? 0n;
  }

  #goOn(lastKey: ScanCommandOutput['LastEvaluatedKey'], last: SeenStream | undefined): string {
    this.#ended = lastKey === undefined ? null : [lastKey['stream_id']?.S ?? '', lastKey['seq']?.N ?? '0'];
    const jump: ScanKey | null = this.#jumps && last !== undefined ? [last.stream, String(I64_MAX)] : null;
    const after = jump ?? this.#ended ?? 'end';
    this.#state = { ...this.#state, after };
    this.#dueAtMs = after === 'end' ? Infinity : -Infinity;
    this.#tell(after === 'end');
    return segmentText(this.#state);
  }

  #tell(isEnd: boolean): void {
    const { log, clock } = this.#parts;
    const nowMs = clock.monotonic();
    if (!isEnd && nowMs - this.#toldAtMs < PROGRESS_MS) return;
    this.#toldAtMs = nowMs;
    const { census, segments } = this.#state;
    const fields = { census, segment: this.#segment, segments, streams: this.#named };
    log.info(fields, isEnd ? 'a census has named all streams of a segment' : 'a census goes on');
  }

  #backOff(): void {
    const { clock, random } = this.#parts;
    this.#dueAtMs = clock.monotonic() + backoffMs(this.#attempt++, RETRY, random);
  }
}
