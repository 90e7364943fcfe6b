import type { DynamoClient } from '@tidemark/libs-driver-dynamodb';
import { asFault, type Clock, Fault, PULL_PAGE_BYTES_MAX, type Random, type Sleeper } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { Append } from './append.ts';
import { ROUND_OPS_MAX } from './append-round.ts';
import { burnedThrough } from './burned-through.ts';
import { BurnedMemory } from './burned-seqs.ts';
import { erase } from './erase.ts';
import { fittingOf, refusalOf } from './item-size.ts';
import type { DynamoLog, DynamoMetrics } from './metrics.ts';
import { OpsTable } from './ops-table.ts';
import { read } from './read.ts';
import { readAhead } from './read-ahead.ts';
import { RareWarning } from './rare-warning.ts';
import { Recent } from './recent.ts';
import { assertStorable, isStreamId } from './registry-key.ts';
import { seqOf } from './seq-of.ts';
import { StreamEnd } from './stream-end.ts';
import { describe, head, list } from './streams.ts';
import { Turns } from './turns.ts';

export interface DynamoOpStoreOptions {
  readonly client: DynamoClient;
  /** The ops table. */
  readonly table: string;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log: DynamoLog;
  readonly metrics: DynamoMetrics;
  /** Ops in one transaction, 1 to 49. 1 sends exactly the four items of the single-op protocol. Default 49. */
  readonly maxOpsPerRound?: number;
  /** Rounds that an append may lose in a row; one more is `unavailable` (RLY-11). Default 100. */
  readonly contentionRounds?: number;
  /** How long a read waits at a hole that cannot be judged yet. Default 250; polls take 0. */
  readonly patienceMs?: number;
  /**
   * Judges a run of more than 48 missing seqs by one more Query and its last 48 seqs alone. Sound only while no ADD-allocating writer and
   * none without the predecessor check writes the table, every round has at most 49 ops, and conflicts are certain. Default false.
   */
  readonly longRuns?: boolean;
  /**
   * A hole whose counter stands behind the op above it (a lost or never written counter): `hold` ends pages there until an append moves the
   * counter; `pass` steps over it, which is sound only if no other make of writer shares the table. Default `hold`.
   */
  readonly legacyHoles?: 'hold' | 'pass';
  /**
   * `hold`: no missing seq is taken for burned, whatever the counter says. For a table that ADD-allocating writers still write: they store
   * below the counter. Default `judge`.
   */
  readonly holes?: 'judge' | 'hold';
  /** Streams whose position and burned seqs are remembered. Default 10,000. */
  readonly streamsMax?: number;
}

/** Ranges of burned seqs that are remembered over all streams: 16 bytes each. */
const BURNED_RANGES_MAX = 262_144;

/** A stream that nobody writes, and whose absence is an answer. */
const PROBED_STREAM = 'tidemark probe';

/**
 * The op log in one DynamoDB table, which any number of processes share. No I/O happens before the first call. The rules of writers and
 * readers are in docs/protocol/append.md.
 */
export function dynamoOpStore(options: DynamoOpStoreOptions): OpStore {
  const { streamsMax = 10_000 } = options;
  const table = new OpsTable(options.client, options.table);
  const warning = (counted: string, message: string): RareWarning =>
    new RareWarning(options.clock, options.log, counted, `${message}, of this stream among others`);
  const late = warning('appends', 'appends reach their deadline before DynamoDB has stored them');
  const appending = {
    ...options,
    table,
    throttles: warning('rounds', 'DynamoDB throttles appends'),
    maxOpsPerRound: options.maxOpsPerRound ?? ROUND_OPS_MAX,
    contentionRounds: options.contentionRounds ?? 100,
  };
  const reading = {
    ...options,
    table,
    burned: new BurnedMemory(streamsMax, BURNED_RANGES_MAX),
    patienceMs: options.patienceMs ?? 250,
    longRuns: options.longRuns ?? false,
    legacyHoles: options.legacyHoles ?? 'hold',
    holes: options.holes ?? 'judge',
    held: new Recent<{ at: bigint | null }>(streamsMax, () => ({ at: null })),
  };
  const ends = new Recent(streamsMax, () => new StreamEnd());
  const turns = new Turns();
  let isClosed = false;
  const open = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isClosed) throw new Fault('unavailable', 'the op store is closed');
    return call();
  };
  return {
    refusal: refusalOf,
    append: (stream, ops, unwanted) =>
      open(async () => {
        assertStorable(stream, {});
        const { fitting, tooLarge } = fittingOf(stream, ops);
        if (fitting.length === 0 && tooLarge !== null) throw tooLarge;
        if (ops.length === 0) return [];
        const end = await turns.take(stream, unwanted);
        if (end === null)
          throw new Fault('deadline', 'the append waited for others of its stream until nobody wanted it any more');
        const outcomes = await new Append(appending, stream, ends.of(stream), unwanted).run(fitting).finally(end);
        if (tooLarge !== null) throw partly(tooLarge);
        return outcomes;
      }).catch((thrown: unknown) => {
        if (asFault(thrown).code === 'deadline') late.happened(stream);
        throw thrown;
      }),
    read: (stream, after, limit, bytesMax = PULL_PAGE_BYTES_MAX) =>
      open(async () => (isStreamId(stream) ? read(reading, stream, after, limit, bytesMax) : { ops: [], next: after })),
    readAhead: (stream, after, limit, bytesMax = PULL_PAGE_BYTES_MAX) =>
      open(async () => (isStreamId(stream) ? readAhead(table, stream, after, limit, bytesMax) : [])),
    burnedThrough: (stream, after) =>
      open(async () => (isStreamId(stream) ? burnedThrough(reading, stream, after) : after)),
    floor: (stream) => open(async () => (isStreamId(stream) ? (await table.counter(stream)).truncatedThrough : 0n)),
    seqOf: (stream, opId) => open(async () => (isStreamId(stream) ? seqOf(table, stream, opId) : null)),
    head: (stream) => open(async () => (isStreamId(stream) ? head(table, stream) : 0n)),
    describe: (stream) => open(async () => (isStreamId(stream) ? describe(table, stream) : { head: 0n, burned: 0n })),
    erase: (stream) => open(async () => (isStreamId(stream) ? erase({ ...options, table }, stream) : 0n)),
    streams: (after, limit) => open(() => list({ ...options, table }, after, limit)),
    watch: () => open(async () => null),
    ping: () => open(async () => void (await table.counter(PROBED_STREAM))),
    close: async () => {
      isClosed = true;
    },
  };
}

/** The ops before the one that it is about are answered. */
function partly({ code, message }: Fault): Fault {
  return new Fault(code, message, { outcome: 'partly' });
}
