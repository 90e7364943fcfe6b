/** A lease as one worker sees it. */
export interface SeenLease {
  readonly key: string;
  readonly owner: string | null;
  /** Its counter stood still for longer than a lease lasts. */
  readonly isExpired: boolean;
  /** Its owner has been the same for longer than a lease lasts, so that the owner before has noticed. */
  readonly isSettled: boolean;
}

export interface LeasePlan {
  readonly take: readonly string[];
  /** From the worker that has the most; null: the shares are fair. */
  readonly steal: string | null;
}

/**
 * What a worker takes in one turn, in the order in which the leases are given: of the free and expired ones as many as its fair share lacks.
 * When there are none, one of the busiest worker's, if that one is left with no fewer than the thief gets: so shares that differ by one are
 * left alone, every theft brings them closer, and thieves cannot steal in circles. A lease is stolen again only when its owner before has
 * noticed the first theft: at most two workers read one shard.
 */
export function planLeases(me: string, leases: readonly SeenLease[]): LeasePlan {
  const counts = new Map([[me, 0]]);
  for (const { owner, isExpired } of leases)
    if (owner !== null && (owner === me || !isExpired)) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  const mine = counts.get(me) ?? 0;
  const lacking = Math.max(0, Math.ceil(leases.length / counts.size) - mine);
  const free = leases.filter(({ owner, isExpired }) => owner === null || (owner !== me && isExpired));
  const take = free.slice(0, lacking).map(({ key }) => key);
  return { take, steal: free.length === 0 ? theft(me, mine, counts, leases) : null };
}

function theft(
  me: string,
  mine: number,
  counts: ReadonlyMap<string, number>,
  leases: readonly SeenLease[],
): string | null {
  const [victim, most] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
  if (victim === me || most < mine + 2) return null;
  return leases.find(({ owner, isSettled }) => owner === victim && isSettled)?.key ?? null;
}
