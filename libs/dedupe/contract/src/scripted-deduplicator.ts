import { assert, type Fault } from '@tidemark/libs-kernel';
import { storedKeyOf } from './answer-repeats.ts';
import { claimedOf } from './claims.ts';
import type { Claim, ClaimedKey, DedupeKey, Deduplicator } from './deduplicator.ts';

export type ScriptedOperation = 'reserve' | 'commit' | 'release';

interface PlannedFault {
  readonly fault: Fault;
  readonly afterKeys: number;
}

/**
 * A deduplicator that fails on demand and remembers what passed through it, around any other: for tests of a flow.
 * It knows only its own callers' calls; a lease that lapsed still counts as pending here until it is committed or released.
 */
export class ScriptedDeduplicator implements Deduplicator {
  readonly #inner: Deduplicator;
  readonly #planned: Record<ScriptedOperation, PlannedFault[]> = { reserve: [], commit: [], release: [] };
  readonly #pending = new Map<string, string>();
  readonly #retentionMs = new Map<string, number>();
  readonly #released: DedupeKey[] = [];

  /** Calls that came in, those without keys and those that failed included. */
  reserves = 0;
  commits = 0;
  releases = 0;

  constructor(inner: Deduplicator) {
    this.#inner = inner;
  }

  /**
   * The next call of `operation` rejects with `fault`; several calls of failNext stand in a queue. With afterKeys, so many keys of
   * the call reach the inner deduplicator first: a reserve then gives them back (all or nothing), a commit or release has done them.
   */
  failNext(operation: ScriptedOperation, fault: Fault, { afterKeys = 0 } = {}): void {
    this.#planned[operation].push({ fault, afterKeys });
  }

  /** A foreign claim: callers find the key in flight until its lease ends. Not counted. Rejects when the key is taken. */
  async hold(key: DedupeKey, leaseMs = 0): Promise<ClaimedKey> {
    const [claim] = await this.#inner.reserve([key], leaseMs);
    assert(claim?.status === 'claimed', 'a held key is free before');
    return claim;
  }

  committed(key: DedupeKey): boolean {
    return this.#retentionMs.has(storedKeyOf(key));
  }

  /** Claimed through here, and neither committed nor released since. */
  pending(key: DedupeKey): boolean {
    return this.#pending.has(storedKeyOf(key));
  }

  /** Retention of the last commit, as it was given. */
  retentionMs(key: DedupeKey): number | undefined {
    return this.#retentionMs.get(storedKeyOf(key));
  }

  /** Keys of every claimed claim given to release, in call order. What a failed reserve gave back is not among them. */
  get released(): readonly DedupeKey[] {
    return this.#released;
  }

  async reserve(keys: readonly DedupeKey[], leaseMs: number): Promise<readonly Claim[]> {
    this.reserves++;
    const planned = this.#planned.reserve.shift();
    if (planned) {
      await this.#inner.release(await this.#inner.reserve(keys.slice(0, planned.afterKeys), leaseMs));
      throw planned.fault;
    }
    const claims = await this.#inner.reserve(keys, leaseMs);
    for (const claim of claimedOf(claims)) this.#pending.set(storedKeyOf(claim.key), claim.token);
    return claims;
  }

  async commit(claims: readonly Claim[], retentionMs: number): Promise<void> {
    this.commits++;
    await this.#upToFault('commit', claims, async (part) => {
      await this.#inner.commit(part, retentionMs);
      for (const claim of claimedOf(part)) {
        this.#retentionMs.set(storedKeyOf(claim.key), retentionMs);
        this.#forget(claim);
      }
    });
  }

  async release(claims: readonly Claim[]): Promise<void> {
    this.releases++;
    await this.#upToFault('release', claims, async (part) => {
      await this.#inner.release(part);
      for (const claim of claimedOf(part)) {
        this.#released.push(claim.key);
        this.#forget(claim);
      }
    });
  }

  ping(): Promise<void> {
    return this.#inner.ping();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async #upToFault(
    operation: ScriptedOperation,
    claims: readonly Claim[],
    run: (part: readonly Claim[]) => Promise<void>,
  ): Promise<void> {
    const planned = this.#planned[operation].shift();
    await run(planned ? claims.slice(0, planned.afterKeys) : claims);
    if (planned) throw planned.fault;
  }

  #forget({ key, token }: ClaimedKey): void {
    const stored = storedKeyOf(key);
    if (this.#pending.get(stored) === token) this.#pending.delete(stored);
  }
}
