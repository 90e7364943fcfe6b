import { inParallel } from '@tidemark/libs-driver-dynamodb';
import type { Feed, FeedBatch } from '@tidemark/libs-feed-contract';
import { asFault, Fault } from '@tidemark/libs-kernel';
import { Bell } from './bell.ts';
import { CensusReader, Pace } from './census-reader.ts';
import { Censuses } from './censuses.ts';
import { segmentState } from './control.ts';
import { Discovery } from './discovery.ts';
import { Hold } from './hold.ts';
import { Keeper } from './keeper.ts';
import { CONTROL_KEY, segmentOf, shardOf } from './lease-row.ts';
import { LeaseTable } from './lease-table.ts';
import { Leases } from './leases.ts';
import { Mailbox } from './mailbox.ts';
import { type DynamodbStreamsFeedOptions, withDefaults } from './options.ts';
import { ShardReader, type Step } from './shard-reader.ts';

/**
 * The feed of DynamoDB Streams over any clients; nothing is sent before the first read. Workers of one fold share the shards by leases.
 * Closing it gives the leases back; the clients stay open.
 */
export function dynamodbStreamsFeed(options: DynamodbStreamsFeedOptions): Feed {
  return new DynamodbStreamsFeed(withDefaults(options));
}

/** Shards and segments that are asked at one time. */
const READS_MAX = 32;

/**
 *     Keeper (background) ── leases of shards and census segments ──▶ Hold ─▶ ShardReader / CensusReader
 *                                                                               │ pages, only while somebody reads
 *     read ◀── Mailbox ◀────────────────────────────────────────────────────────┘
 *     checkpoint ─▶ Mailbox: which progress the position covers ─▶ Hold.safe ─▶ the lease's row
 *
 * Nothing is fetched while a full batch waits, so a worker that is slow or stuck holds no more than that and the pages that were on their way.
 */
class DynamodbStreamsFeed implements Feed {
  readonly #options: Required<DynamodbStreamsFeedOptions>;
  readonly #closing = new AbortController();
  readonly #bell: Bell;
  readonly #table: LeaseTable;
  readonly #mailbox: Mailbox<Hold>;
  readonly #leases: Leases;
  readonly #keeper: Keeper;
  /** Why the last step of a shard or segment failed; null when the last one did not. */
  #trouble: Fault | null = null;

  constructor(options: Required<DynamodbStreamsFeedOptions>) {
    const { client, leasesTable, name, workerId, clock, sleeper, random, leaseMs } = options;
    this.#options = options;
    const { signal } = this.#closing;
    const nonce = Buffer.from(random.bytes(6)).toString('hex');
    const me = `${workerId}/${nonce}`;
    const table = new LeaseTable(client, leasesTable, name, signal);
    const bell = new Bell(sleeper);
    const censuses = new Censuses({ ...options, table });
    const discovery = new Discovery({ ...options, table, censuses, signal });
    const over = (hold: Hold, isEnded: boolean): void => {
      this.#mailbox.forget(hold);
      if (!isEnded || hold.isSegment) return;
      discovery.hurry();
      this.#keeper.kick();
    };
    const pace = new Pace(clock, options.censusUnitsPerSecond);
    const lost = async (reason: string): Promise<void> => {
      await censuses.want(reason);
      this.#keeper.kick();
    };
    this.#table = table;
    this.#bell = bell;
    this.#mailbox = new Mailbox(nonce);
    this.#leases = new Leases({ ...options, table, me, leaseMs, over });
    this.#keeper = new Keeper({
      ...options,
      table,
      leases: this.#leases,
      discovery,
      censuses,
      bell,
      me,
      signal,
      holdShard: (row, confirmedAtMs, { arn, label }) => {
        const shard = shardOf(row.key, label) ?? row.key;
        return new Hold(row, new ShardReader({ ...options, lost }, arn, shard, row), confirmedAtMs);
      },
      holdSegment: (row, confirmedAtMs) => {
        const segment = segmentOf(row.key) ?? 0;
        return new Hold(row, new CensusReader({ ...options, pace }, segment, segmentState(row)), confirmedAtMs);
      },
      vanished: async (hold) => this.#deliver(hold, (await hold.missing?.vanished()) ?? null),
    });
  }

  async read(max: number, waitMs: number, signal?: AbortSignal): Promise<FeedBatch> {
    this.#assertOpen();
    const { clock } = this.#options;
    const endsAtMs = clock.monotonic() + waitMs;
    for (;;) {
      this.#keeper.use();
      const nextMs = this.#readOn(max);
      if (this.#mailbox.hasChanges || this.#closing.signal.aborted) break;
      const leftMs = endsAtMs - clock.monotonic();
      if (leftMs <= 0 || signal?.aborted) break;
      await this.#bell.wait(Math.min(leftMs, nextMs), signal);
    }
    if (this.#mailbox.isEmpty && !signal?.aborted) this.#assertWell();
    return this.#mailbox.take(max);
  }

  async checkpoint(position: string): Promise<void> {
    const { clock, checkpointMs } = this.#options;
    for (const [hold, progress] of this.#mailbox.reached(position)) hold.safe = progress;
    const due = [...this.#leases.held.values()].filter(
      (hold) => hold.isUnstored && (hold.isEnded || clock.monotonic() - hold.checkpointedAtMs >= checkpointMs),
    );
    let fault: Fault | null = null;
    await inParallel(due, READS_MAX, (hold) =>
      this.#leases.store(hold).catch((thrown: unknown) => void (fault ??= asFault(thrown))),
    );
    if (fault !== null) throw fault;
  }

  async ping(): Promise<void> {
    this.#assertOpen();
    this.#assertWell();
    await this.#table.row(CONTROL_KEY);
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#bell.ring();
    await this.#keeper.stopped();
    await this.#leases.releaseAll(this.#table.withoutSignal());
  }

  /** Starts every read whose time has come, while there is room for what it may bring; how long until the next one is due. */
  #readOn(max: number): number {
    const nowMs = this.#options.clock.monotonic();
    const holds = [...this.#leases.held.values()];
    const ready = holds.filter((hold) => !hold.isReading && !hold.isBlocked && this.#leases.isConfirmed(hold));
    ready.sort((a, b) => a.reader.dueAtMs - b.reader.dueAtMs);
    let reading = holds.filter(({ isReading }) => isReading).length;
    for (const hold of ready) {
      if (hold.reader.dueAtMs > nowMs) return hold.reader.dueAtMs - nowMs;
      if (reading++ >= READS_MAX || this.#mailbox.size >= max) break;
      void this.#step(hold);
    }
    return Infinity;
  }

  async #step(hold: Hold): Promise<void> {
    hold.isReading = true;
    try {
      this.#deliver(hold, await hold.reader.step(hold.stop.signal));
      this.#trouble = null;
    } catch (thrown) {
      if (!hold.isOver) this.#report(hold, asFault(thrown));
    }
    hold.isReading = false;
    this.#bell.ring();
  }

  #deliver(hold: Hold, step: Step | null): void {
    // What was read under a lease that is over is its next owner's to read.
    if (step !== null && !hold.isOver) this.#mailbox.put({ ...step, source: hold });
  }

  #report({ row }: Hold, fault: Fault): void {
    this.#options.log.warn({ lease: row.key, reason: fault.message }, 'it cannot be read now, and is tried again');
    this.#trouble = fault;
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new Fault('unavailable', 'the feed is closed');
  }

  #assertWell(): void {
    const trouble = this.#keeper.trouble ?? this.#trouble;
    if (trouble !== null) throw trouble;
  }
}
