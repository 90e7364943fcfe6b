import { asFault, backoffMs, type Clock, type Fault, type Random, type Sleeper } from '@tidemark/libs-kernel';
import type { Bell } from './bell.ts';
import type { Censuses } from './censuses.ts';
import { controlOf, dueSegments, segmentText } from './control.ts';
import { type Discovery, type Followed, shardRows } from './discovery.ts';
import type { Hold } from './hold.ts';
import { inParallel } from './in-parallel.ts';
import { planLeases, type SeenLease } from './lease-plan.ts';
import { CONTROL_KEY, freshRow, type LeaseRow, shardOf } from './lease-row.ts';
import type { LeaseTable } from './lease-table.ts';
import { LeaseWatch } from './lease-watch.ts';
import type { Leases } from './leases.ts';
import { isReadable } from './lineage.ts';
import type { StreamsLog } from './report.ts';

export interface KeeperParts {
  readonly table: LeaseTable;
  readonly leases: Leases;
  readonly discovery: Discovery;
  readonly censuses: Censuses;
  readonly bell: Bell;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log: StreamsLog;
  readonly me: string;
  readonly leaseMs: number;
  readonly signal: AbortSignal;
  readonly holdShard: (row: LeaseRow, confirmedAtMs: number, followed: Followed) => Hold;
  readonly holdSegment: (row: LeaseRow, confirmedAtMs: number) => Hold;
  /** What a shard that is gone still tells. */
  readonly vanished: (hold: Hold) => Promise<void>;
}

const TAKES_MAX = 16;
const RETRY = { baseMs: 200, ceilingMs: 5000 };

/** Without a read for so many leases a worker counts as stuck, and lets others have its leases. */
const QUIET_LEASES = 4;

/**
 * Keeps a worker's leases, in the background from the first read to the close: renews them, looks for shards and censuses, takes its share.
 * A turn that fails is repeated soon; the leases last meanwhile, and what is taken by others then is found out by the next write (F13).
 */
export class Keeper {
  readonly #parts: KeeperParts;
  readonly #watch = new LeaseWatch();
  #running: Promise<void> | null = null;
  #kicked = false;
  #usedAtMs = -Infinity;
  /** Why the last turn failed. */
  trouble: Fault | null = null;
  /** Turns that are over. */
  turns = 0;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /** Somebody reads. */
  use(): void {
    this.#usedAtMs = this.#parts.clock.monotonic();
    this.#running ??= this.#run();
  }

  /** Something has changed: the next turn comes at once. */
  kick(): void {
    this.#kicked = true;
    this.#parts.bell.ring();
  }

  /** Resolves when no turn runs any more; `signal` has aborted before. */
  async stopped(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    const { bell, signal, random } = this.#parts;
    for (let attempt = 0; !signal.aborted;) {
      this.#kicked = false;
      await this.#turn().then(
        () => this.#ended(null),
        (thrown: unknown) => this.#ended(asFault(thrown)),
      );
      attempt = this.trouble === null ? 0 : attempt + 1;
      const waitMs = this.trouble === null ? this.#restMs() : backoffMs(attempt, RETRY, random);
      const untilMs = this.#parts.clock.monotonic() + waitMs;
      for (let leftMs = waitMs; leftMs > 0 && !this.#kicked && !signal.aborted;) {
        await bell.wait(leftMs, signal);
        leftMs = untilMs - this.#parts.clock.monotonic();
      }
    }
  }

  #ended(fault: Fault | null): void {
    const { log, signal, bell } = this.#parts;
    if (fault !== null && !signal.aborted)
      log.warn({ reason: fault.message }, 'leases and shards cannot be looked after now');
    this.trouble = fault;
    this.turns++;
    bell.ring();
  }

  #restMs(): number {
    const { clock, leaseMs, discovery } = this.#parts;
    return Math.max(1, Math.min(leaseMs / 3, discovery.dueAtMs - clock.monotonic()));
  }

  async #turn(): Promise<void> {
    const { table, leases, clock, leaseMs, log } = this.#parts;
    if (clock.monotonic() - this.#usedAtMs > QUIET_LEASES * leaseMs) {
      if (leases.held.size > 0)
        log.warn({ leases: leases.held.size }, 'nothing was read for long: the leases are given back');
      return leases.releaseAll(table);
    }
    const unrenewed = await leases.renew();
    const askedAtMs = clock.monotonic();
    const rows = await table.rows();
    this.#watch.see(rows.values(), clock.monotonic());
    const unlisted = await this.#look(rows).then(
      () => null,
      (thrown: unknown) => asFault(thrown),
    );
    await this.#take(rows, askedAtMs);
    const fault = unrenewed ?? unlisted;
    if (fault !== null) throw fault;
  }

  async #look(rows: Map<string, LeaseRow>): Promise<void> {
    const { discovery, censuses, leases, vanished } = this.#parts;
    const missed = [...leases.held.values()].filter(({ missing }) => missing !== null);
    if (missed.length > 0) discovery.hurry();
    const isListed = await discovery.look(rows);
    const { followed } = discovery;
    if (followed === null) return;
    if (isListed) for (const hold of missed) await this.#judge(hold, followed, vanished);
    const control = controlOf(rows.get(CONTROL_KEY));
    if (control !== null) await censuses.look(rows, control);
  }

  async #judge(hold: Hold, { label, listing }: Followed, vanished: (hold: Hold) => Promise<void>): Promise<void> {
    if (!listing.has(shardOf(hold.row.key, label) ?? '')) await vanished(hold);
    else if (hold.missing !== null) hold.missing.isMissing = false;
  }

  async #take(rows: Map<string, LeaseRow>, askedAtMs: number): Promise<void> {
    const { discovery, leases, holdShard, holdSegment } = this.#parts;
    const { followed } = discovery;
    const control = controlOf(rows.get(CONTROL_KEY));
    if (followed === null || control === null || control.label !== followed.label) return;
    const shards = shardRows(rows, followed.label);
    const readable = [...shards.values()].filter((row) => isReadable(row, followed.listing, shards));
    const readableKeys = new Set(readable.map(({ key }) => key));
    for (const hold of leases.held.values())
      if (!hold.isSegment) hold.isBlocked = !readableKeys.has(hold.row.key) && rows.has(hold.row.key);
    await this.#takeShare(
      readable.map((row) => ({ seen: row, next: row })),
      askedAtMs,
      (row, atMs) => holdShard(row, atMs, followed),
    );
    const due = dueSegments(control, rows).map(({ key, row, state }) => {
      const checkpoint = segmentText(state);
      return { seen: row, next: row === null ? freshRow(key, checkpoint) : { ...row, checkpoint } };
    });
    await this.#takeShare(due, askedAtMs, holdSegment);
  }

  async #takeShare(
    rows: readonly { readonly seen: LeaseRow | null; readonly next: LeaseRow }[],
    askedAtMs: number,
    make: (row: LeaseRow, atMs: number) => Hold,
  ): Promise<void> {
    const { me, leases, random } = this.#parts;
    const byKey = new Map(rows.map((row) => [row.next.key, row]));
    const { take, steal } = planLeases(
      me,
      shuffled([...byKey.values()], random).map(({ next }) => this.#seen(next, askedAtMs)),
    );
    const wanted = steal === null ? take : [...take, steal];
    await inParallel(wanted, TAKES_MAX, async (key) => {
      const row = byKey.get(key);
      if (row === undefined) return;
      const event = key === steal ? 'stolen' : row.seen?.owner == null ? 'taken' : 'taken_over';
      await leases.take({ ...row, event, make });
    });
  }

  #seen({ key, owner }: LeaseRow, askedAtMs: number): SeenLease {
    const { me, leases, leaseMs } = this.#parts;
    // A take whose answer was lost: nobody else calls itself this.
    const isForgotten = owner === me && !leases.held.has(key);
    return {
      key,
      owner: isForgotten ? null : owner,
      isExpired: this.#watch.unchangedMs(key, askedAtMs) >= leaseMs,
      isSettled: this.#watch.sameOwnerMs(key, askedAtMs) >= leaseMs,
    };
  }
}

/** So that workers that look at one moment do not reach for the same leases. */
function shuffled<T>(items: T[], random: Random): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random.fraction() * (i + 1));
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
  return items;
}
