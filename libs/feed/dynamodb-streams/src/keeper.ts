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
 * Keeps a worker's leases, in the background from the first read to the close: one loop renews them, another looks for shards and censuses and
 * takes this worker's share. Slow or failing listings hold up neither. What fails is repeated soon; the leases last meanwhile, and what others
 * took then is found out by the next write (F13).
 */
export class Keeper {
  readonly #parts: KeeperParts;
  readonly #watch: LeaseWatch;
  #running: Promise<unknown> | null = null;
  #looking: Promise<void> | null = null;
  #isKicked = false;
  #usedAtMs = -Infinity;
  readonly #troubles: Record<'renewing' | 'taking' | 'looking', Fault | null> = {
    renewing: null,
    taking: null,
    looking: null,
  };

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#watch = new LeaseWatch((2 / 3) * parts.leaseMs);
  }

  /** What fails at present. */
  get trouble(): Fault | null {
    const { renewing, taking, looking } = this.#troubles;
    return renewing ?? taking ?? looking;
  }

  /** Somebody reads. */
  use(): void {
    this.#usedAtMs = this.#parts.clock.monotonic();
    this.#running ??= Promise.all([this.#repeat('renewing'), this.#repeat('taking')]);
  }

  /** Something has changed: the next turn comes at once. */
  kick(): void {
    this.#isKicked = true;
    this.#parts.bell.ring();
  }

  /** Resolves when nothing runs any more; `signal` has aborted before. */
  async stopped(): Promise<void> {
    await this.#running;
    await this.#looking;
  }

  async #repeat(what: 'renewing' | 'taking'): Promise<void> {
    const { bell, signal, random, clock, leaseMs } = this.#parts;
    const isTaking = what === 'taking';
    for (let attempt = 0; !signal.aborted;) {
      if (isTaking) this.#isKicked = false;
      await this.#tell(what, isTaking ? this.#turn() : this.#renew());
      attempt = this.#troubles[what] === null ? 0 : attempt + 1;
      const restMs = isTaking ? this.#restMs() : leaseMs / 3;
      const untilMs = clock.monotonic() + (attempt === 0 ? restMs : backoffMs(attempt, RETRY, random));
      for (let leftMs = untilMs - clock.monotonic(); leftMs > 0 && !signal.aborted;) {
        if (isTaking && this.#isKicked) break;
        await bell.wait(leftMs, signal);
        leftMs = untilMs - clock.monotonic();
      }
    }
  }

  async #tell(what: 'renewing' | 'taking' | 'looking', work: Promise<void>): Promise<void> {
    const { log, signal, bell } = this.#parts;
    const fault = await work.then(
      () => null,
      (thrown: unknown) => asFault(thrown),
    );
    if (fault !== null && !signal.aborted)
      log.warn({ what, reason: fault.message }, 'leases or shards cannot be looked after');
    this.#troubles[what] = fault;
    bell.ring();
  }

  #restMs(): number {
    const { clock, leaseMs, discovery } = this.#parts;
    return Math.max(1, Math.min(leaseMs / 3, discovery.dueAtMs - clock.monotonic()));
  }

  async #renew(): Promise<void> {
    const { leases, table, log } = this.#parts;
    if (!this.#isQuiet()) return leases.renew();
    if (leases.held.size === 0) return;
    log.warn({ leases: leases.held.size }, 'nothing was read for long: the leases are given back');
    await leases.releaseAll(table);
  }

  #isQuiet(): boolean {
    const { clock, leaseMs } = this.#parts;
    return clock.monotonic() - this.#usedAtMs > QUIET_LEASES * leaseMs;
  }

  async #turn(): Promise<void> {
    if (this.#isQuiet()) return;
    const { table, clock } = this.#parts;
    const askedAtMs = clock.monotonic();
    const rows = await table.rows();
    this.#watch.see(rows.values(), clock.monotonic());
    await this.#lookFor(rows);
    await this.#take(rows, askedAtMs);
  }

  /** Waits for what is listed, but not for long: it goes on by itself. */
  async #lookFor(rows: Map<string, LeaseRow>): Promise<void> {
    const { sleeper, leaseMs } = this.#parts;
    const ended = new AbortController();
    this.#looking ??= this.#tell('looking', this.#look(rows)).finally(() => (this.#looking = null));
    await Promise.race([this.#looking, sleeper.sleep(leaseMs / 3, ended.signal)]);
    ended.abort();
  }

  async #look(rows: Map<string, LeaseRow>): Promise<void> {
    const { discovery, censuses, leases, vanished } = this.#parts;
    const missed = [...leases.held.values()].filter(({ missing }) => missing !== null);
    if (missed.length > 0) discovery.hurry();
    const isListed = await discovery.look(rows);
    const { followed } = discovery;
    if (followed === null) return;
    for (const hold of isListed ? missed : []) {
      const id = shardOf(hold.row.key, followed.label);
      if (id === null || discovery.isGone(id)) await vanished(hold);
      else if (hold.missing !== null && followed.listing.has(id)) hold.missing.isMissing = false;
    }
    const control = controlOf(rows.get(CONTROL_KEY));
    if (control !== null) await censuses.look(rows, control);
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
