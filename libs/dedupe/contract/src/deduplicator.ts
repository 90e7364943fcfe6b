/** What is deduplicated: an id inside a table of a tenant. Its stored form is `storedKey` of libs/wire. */
export interface DedupeKey {
  readonly tenant: string;
  readonly table: string;
  readonly id: string;
}

/** A key that the caller holds until its lease ends. Release compares the token. */
export interface ClaimedKey {
  readonly status: 'claimed';
  readonly key: DedupeKey;
  readonly token: string;
}

/**
 * `claimed`: first sighting within retention; the caller holds the key until its lease ends.
 * `duplicate`: committed and not expired. `in_flight`: another live claim holds it.
 * A key that is both (a commit landed after its lease lapsed and another caller re-claimed it) may answer either.
 */
export type Claim = ClaimedKey | { readonly status: 'duplicate' | 'in_flight'; readonly key: DedupeKey };

/**
 * Reserve, publish, commit: an id is marked only after the broker has the event.
 *
 *     reserve ──claimed──▶ (publish) ──stored──▶ commit ──▶ duplicate until retention ends
 *        │                     ├─certainly refused─▶ release ──▶ claimable at once
 *        │                     └─unknown──▶ nothing: the lease lapses ──▶ claimable again
 *        └─duplicate / in_flight: nothing is held
 *
 * There is deliberately no read-only "exists": check-then-mark is the race that this contract removes.
 * Faults: `unavailable` iff a later retry can succeed; anything else is `misconfigured`, `disk_full`, `corrupt` or `internal`.
 */
export interface Deduplicator {
  /**
   * One claim per key, in input order; a claimed key is held while less than leaseMs has passed. Atomic per key across every process
   * that shares the store: of concurrent reserves of one key at most one is claimed (DDP-2). A key repeated inside one call: the
   * first occurrence gets the store's answer, later ones `duplicate`. All or nothing: when it rejects, it has released what it
   * claimed. leaseMs <= 0 means the default lease. No keys, no work.
   */
  reserve(keys: readonly DedupeKey[], leaseMs: number): Promise<readonly Claim[]>;

  /**
   * Makes the claimed ones duplicates for retentionMs (<= 0: for ever). Other statuses are ignored. Durable when it resolves (DDP-3).
   * Unconditional: the committer did publish, so a commit is right even after its lease lapsed. Idempotent: on a fault (outcome
   * `unknown`: some of them may be stored) repeat the whole call.
   */
  commit(claims: readonly Claim[], retentionMs: number): Promise<void>;

  /** Gives up claims still owned (token equal and still pending) (DDP-4); others are left alone, which is not an error. */
  release(claims: readonly Claim[]): Promise<void>;

  /** Resolves when the store answers. */
  ping(): Promise<void>;

  /** Waits for calls that run, stops background work, then closes. Twice is fine; every other call then faults with `unavailable`. */
  close(): Promise<void>;
}
