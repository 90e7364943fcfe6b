import { faultOf, inParallel, nameOf, type DynamoClient } from '@tidemark/libs-driver-dynamodb';
import { type Clock, Fault } from '@tidemark/libs-kernel';
import type { Censuses } from './censuses.ts';
import type { StreamsClient } from './client.ts';
import { controlOf, controlRow, otherTable } from './control.ts';
import {
  CONTROL_KEY,
  freshRow,
  isShard,
  KEPT_MS,
  type LeaseRow,
  shardKey,
  shardOf,
  TRIM_HORIZON,
} from './lease-row.ts';
import type { LeaseTable } from './lease-table.ts';
import { generations, missingFrom, planLineage, type Shard, type ShardListing } from './lineage.ts';
import type { StreamsLog } from './report.ts';
import { listShards, newestStream, type TableStream } from './stream-listing.ts';

export interface DiscoveryParts {
  readonly client: DynamoClient;
  readonly streams: StreamsClient;
  readonly opsTable: string;
  readonly name: string;
  readonly table: LeaseTable;
  readonly censuses: Censuses;
  readonly clock: Clock;
  readonly log: StreamsLog;
  readonly discoveryMs: number;
  readonly lineageMs: number;
  readonly signal: AbortSignal;
}

/** The stream that is followed, and what it listed last. */
export interface Followed {
  readonly arn: string;
  readonly label: string;
  readonly listing: ShardListing;
}

type Rows = Map<string, LeaseRow>;

/** After something changed, when more may be about to. */
const HURRY_MS = 1000;

/** Finished rows cost nothing, and one that is removed too early is read again from the start (F8). */
const LONG_MS = 3_600_000;

const NOTED_MS = 600_000;

const WRITES_MAX = 16;
const REMOVALS_MAX = 200;

/**
 * Finds shards, and makes a row for each before it is read, parents first. A new stream of the table (its old one was switched off, or the table
 * was made again) is followed once every shard that it lists has a row; then a census names what no stream holds.
 */
export class Discovery {
  followed: Followed | null = null;
  readonly #parts: DiscoveryParts;
  #dueAtMs = -Infinity;
  #restMs = HURRY_MS;
  #awaySinceMs = new Map<string, number>();
  #isToldOff = false;

  constructor(parts: DiscoveryParts) {
    this.#parts = parts;
  }

  get dueAtMs(): number {
    return this.#dueAtMs;
  }

  /** A shard has ended or is missed: its children, or its end, may be listed now or soon. */
  hurry(): void {
    this.#restMs = HURRY_MS;
    this.#dueAtMs = -Infinity;
  }

  /** Whether the listings have lacked a shard for so long that it cannot be a listing's fault. */
  isGone(shardId: string): boolean {
    return this.#isAway(shardId, this.#parts.lineageMs);
  }

  /** Lists the shards when it is time, and brings the rows up to date with them. Whether it did. */
  async look(rows: Rows): Promise<boolean> {
    const { clock, discoveryMs, opsTable, name } = this.#parts;
    const control = controlOf(rows.get(CONTROL_KEY));
    if (control !== null && control.opsTable !== opsTable)
      throw new Fault('misconfigured', otherTable(name, control.opsTable, opsTable));
    const isStale = this.followed === null || this.followed.label !== control?.label;
    if (!isStale && clock.monotonic() < this.#dueAtMs) return false;
    this.#dueAtMs = clock.monotonic() + this.#restMs;
    this.#restMs = Math.min(2 * this.#restMs, discoveryMs);
    const newest = await this.#newest();
    const isNew = control === null || newest.label > control.label;
    // Another worker may have seen a newer stream than this answer shows.
    const label = isNew ? newest.label : control.label;
    const arn = newest.arn.slice(0, newest.arn.length - newest.label.length) + label;
    const listing = await this.#list(arn, newest);
    const isReady = await this.#bringUp(rows, label, listing, isNew);
    if (isNew && !(isReady && (await this.#parts.censuses.begin(rows, opsTable, label)))) return false;
    // Shards that still wait for a parent are asked of a census when they are found.
    if (!isNew) await this.#note(rows);
    this.followed = { arn, label, listing };
    await this.#forgetOlder(rows, label);
    return true;
  }

  async #newest(): Promise<TableStream> {
    const { client, opsTable, signal, log } = this.#parts;
    const newest = await newestStream(client, opsTable, signal);
    if (newest === null)
      throw new Fault('misconfigured', `the table "${opsTable}" has no stream: switch DynamoDB Streams on`);
    if (!newest.isOn && !this.#isToldOff)
      log.error({ table: opsTable }, 'the stream of the ops table is switched off: only censuses see what is appended');
    this.#isToldOff = !newest.isOn;
    return newest;
  }

  /** A stream that was switched off is gone after a day, its shards with it. */
  async #list(arn: string, { isOn }: TableStream): Promise<ShardListing> {
    const { streams, signal } = this.#parts;
    try {
      return await listShards(streams, arn, signal);
    } catch (thrown) {
      if (!isOn && nameOf((thrown as Error).cause) === 'ResourceNotFoundException') return new Map<string, Shard>();
      throw faultOf(thrown, `the stream ${arn}`);
    }
  }

  /** Whether every shard of the listing has its row now. */
  async #bringUp(rows: Rows, label: string, listing: ShardListing, isNew: boolean): Promise<boolean> {
    const { table, censuses, clock, log } = this.#parts;
    const shards = shardRows(rows, label);
    this.#watch(missingFrom(listing, shards), clock.monotonic());
    const { found, orphans, waiting, finished } = planLineage(
      listing,
      shards,
      (id) => this.isGone(id),
      (id) => this.#isAway(id, LONG_MS),
    );
    if (orphans.length > 0 && !isNew) await censuses.want(`the parent of shard ${orphans[0]} was trimmed unseen`);
    // They may be older than what is kept of them; their parents' ends do not tell.
    const listedAtMs = controlOf(rows.get(CONTROL_KEY))?.listedAtMs ?? 0;
    const nowMs = clock.now();
    if (found.length > 0 && !isNew && Math.abs(nowMs - listedAtMs) >= KEPT_MS)
      await censuses.want('the shards were not listed for long');
    for (const generation of generations(found))
      await inParallel(generation, WRITES_MAX, async ({ id, parent }) => {
        const row = freshRow(shardKey(label, id), TRIM_HORIZON, parent, nowMs);
        await table.create(row);
        rows.set(row.key, row);
      });
    await this.#remove(rows, finished);
    if (found.length > 0) log.info({ stream: label, shards: listing.size, found: found.length }, 'shards were found');
    if (found.length > 0 || waiting > 0) this.#restMs = HURRY_MS;
    return waiting === 0;
  }

  /** Keeps the time of this listing, if the one that is kept is some minutes old; it does not matter which worker's is. */
  async #note(rows: Rows): Promise<void> {
    const seen = rows.get(CONTROL_KEY);
    const control = controlOf(seen);
    const listedAtMs = this.#parts.clock.now();
    if (seen === undefined || control === null || Math.abs(listedAtMs - control.listedAtMs) < NOTED_MS) return;
    const next = controlRow(seen, { ...control, listedAtMs });
    if (await this.#parts.table.swap(seen, next)) rows.set(CONTROL_KEY, next);
  }

  /** Since when the listings lack each of these. */
  #watch(missing: readonly string[], nowMs: number): void {
    this.#awaySinceMs = new Map(missing.map((id) => [id, this.#awaySinceMs.get(id) ?? nowMs]));
  }

  async #forgetOlder(rows: Rows, label: string): Promise<void> {
    const older = [...rows.values()].filter(({ key }) => isShard(key) && (key.split('/')[1] ?? '') < label);
    await this.#remove(rows, older);
  }

  /** Some of them; the others are removed after a later listing. */
  async #remove(rows: Rows, useless: readonly LeaseRow[]): Promise<void> {
    await inParallel(useless.slice(0, REMOVALS_MAX), WRITES_MAX, async (row) => {
      await this.#parts.table.remove(row);
      rows.delete(row.key);
    });
  }

  #isAway(id: string, ms: number): boolean {
    return this.#parts.clock.monotonic() - (this.#awaySinceMs.get(id) ?? Infinity) >= ms;
  }
}

/** Rows of one stream by shard id. */
export function shardRows(rows: ReadonlyMap<string, LeaseRow>, label: string): Map<string, LeaseRow> {
  const shards = [...rows.values()].map((row) => [shardOf(row.key, label), row] as const);
  return new Map(shards.flatMap(([id, row]) => (id === null ? [] : [[id, row]])));
}
