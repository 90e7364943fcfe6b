import { inParallel } from '@tidemark/libs-driver-dynamodb';
import type { Random } from '@tidemark/libs-kernel';
import { type Control, dueSegments, segmentText } from './control.ts';
import { type Followed, shardRows } from './discovery.ts';
import type { Hold } from './hold.ts';
import { planLeases, type SeenLease } from './lease-plan.ts';
import { freshRow, type LeaseRow } from './lease-row.ts';
import { LeaseWatch } from './lease-watch.ts';
import type { Leases } from './leases.ts';
import { isReadable } from './lineage.ts';

export interface ShareParts {
  readonly leases: Leases;
  readonly random: Random;
  readonly me: string;
  readonly leaseMs: number;
  readonly holdShard: (row: LeaseRow, confirmedAtMs: number, followed: Followed) => Hold;
  readonly holdSegment: (row: LeaseRow, confirmedAtMs: number) => Hold;
}

type Rows = ReadonlyMap<string, LeaseRow>;

const TAKES_MAX = 16;

/** This worker's share of the shards that can be read and of the census that is wanted, each by itself. */
export class Share {
  readonly #parts: ShareParts;
  readonly #watch: LeaseWatch;

  constructor(parts: ShareParts) {
    this.#parts = parts;
    this.#watch = new LeaseWatch((2 / 3) * parts.leaseMs);
  }

  /** Rows whose reading was finished at that time. */
  see(rows: Rows, readAtMs: number): void {
    this.#watch.see(rows.values(), readAtMs);
  }

  /** Rows whose reading was begun at that time. */
  async take(rows: Rows, control: Control, followed: Followed, askedAtMs: number): Promise<void> {
    const { leases, holdShard, holdSegment } = this.#parts;
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
