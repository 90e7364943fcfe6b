import { asFault, backoffMs, type Clock, type Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { Bell } from './bell.ts';
import type { Censuses } from './censuses.ts';
import { controlOf } from './control.ts';
import type { Discovery } from './discovery.ts';
import type { Hold } from './hold.ts';
import { CONTROL_KEY, type LeaseRow, shardOf } from './lease-row.ts';
import type { LeaseTable } from './lease-table.ts';
import type { StreamsLog } from './report.ts';
import { Share, type ShareParts } from './share.ts';

export interface KeeperParts extends ShareParts {
  readonly table: LeaseTable;
  readonly discovery: Discovery;
  readonly censuses: Censuses;
  readonly bell: Bell;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly log: StreamsLog;
  readonly signal: AbortSignal;
  /** What a shard that is gone still tells. */
  readonly vanished: (hold: Hold) => Promise<void>;
}

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
  readonly #share: Share;
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
    this.#share = new Share(parts);
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
    this.#share.see(rows, clock.monotonic());
    await this.#lookFor(rows);
    const { followed } = this.#parts.discovery;
    const control = controlOf(rows.get(CONTROL_KEY));
    if (followed !== null && control?.label === followed.label)
      await this.#share.take(rows, control, followed, askedAtMs);
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
}
