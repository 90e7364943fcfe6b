import { type LeaseRow, SHARD_END } from './lease-row.ts';

export interface Shard {
  readonly id: string;
  readonly parent: string | null;
}

export type ShardListing = ReadonlyMap<string, Shard>;
/** Rows of one stream, by shard id. */
export type ShardRows = ReadonlyMap<string, LeaseRow>;

export interface LineagePlan {
  /** Listed for the first time, parents before their children. */
  readonly found: readonly Shard[];
  /** Of these, the ones whose parent was trimmed before anybody of this fold saw it: what it held is lost to the stream. */
  readonly orphans: readonly string[];
  /** Not decided yet: a parent may still come into the listings. */
  readonly waiting: number;
  /** Rows that are of no use any more: read to the end and not listed (F8: never before). */
  readonly finished: readonly LeaseRow[];
}

/**
 * What a listing brings. A listing may lack a parent that a later one shows, so a parent that nobody has seen counts as trimmed only when
 * `isAway` says that it has been away for long.
 */
export function planLineage(
  listing: ShardListing,
  rows: ShardRows,
  isAway: (shardId: string) => boolean,
  isLongAway: (shardId: string) => boolean,
): LineagePlan {
  const found = new Map<string, Shard>();
  const orphans: string[] = [];
  const visited = new Set<string>();
  const visit = (shard: Shard): void => {
    if (visited.has(shard.id) || rows.has(shard.id)) return;
    visited.add(shard.id);
    const { id, parent } = shard;
    const listedParent = parent === null ? undefined : listing.get(parent);
    if (listedParent !== undefined) visit(listedParent);
    const isKnown = parent === null || rows.has(parent) || found.has(parent);
    if (!isKnown && !(listedParent === undefined && isAway(parent))) return;
    if (!isKnown) orphans.push(id);
    found.set(id, shard);
  };
  for (const shard of listing.values()) visit(shard);
  const finished = [...rows].filter(
    ([id, { checkpoint }]) => checkpoint === SHARD_END && !listing.has(id) && isLongAway(id),
  );
  return {
    found: [...found.values()],
    orphans,
    waiting: visited.size - found.size,
    finished: finished.map(([, row]) => row),
  };
}

/** Parents in an earlier part than their children. */
export function generations(shards: readonly Shard[]): Shard[][] {
  const parts: Shard[][] = [];
  let left = new Map(shards.map((shard) => [shard.id, shard]));
  while (left.size > 0) {
    const part = [...left.values()].filter(({ parent }) => parent === null || !left.has(parent));
    // A shard that is its own ancestor has no place in any order.
    parts.push(part.length > 0 ? part : [...left.values()]);
    left = new Map([...left].filter(([, shard]) => !parts.at(-1)?.includes(shard)));
  }
  return parts;
}

/** Shards that the next listings should show: parents that nobody has seen, and rows that have gone. */
export function missingFrom(listing: ShardListing, rows: ShardRows): string[] {
  const parents = [...listing.values()].flatMap(({ parent }) => (parent === null || rows.has(parent) ? [] : [parent]));
  return [...parents, ...rows.keys()].filter((id) => !listing.has(id));
}

/** Parent before child: a shard is read when its parent was read to the end, or is neither listed nor known. */
export function isReadable({ checkpoint, parent }: LeaseRow, listing: ShardListing, rows: ShardRows): boolean {
  if (checkpoint === SHARD_END) return false;
  if (parent === null) return true;
  const row = rows.get(parent);
  return row === undefined ? !listing.has(parent) : row.checkpoint === SHARD_END;
}
