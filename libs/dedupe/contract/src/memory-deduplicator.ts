import { Fault } from '@tidemark/libs-kernel';
import { answerRepeats, storedKeyOf, type StoredId } from './answer-repeats.ts';
import { claimedOf, leaseOrDefault } from './claims.ts';
import type { Claim, ClaimedKey, DedupeKey, Deduplicator } from './deduplicator.ts';
import type { MemoryDedupeStore } from './memory-dedupe-store.ts';

/** The model of the contract: what every backend must be indistinguishable from. Several on one store are several processes. */
export class MemoryDeduplicator implements Deduplicator {
  protected readonly store: MemoryDedupeStore;
  #closed = false;

  constructor(store: MemoryDedupeStore) {
    this.store = store;
  }

  async reserve(keys: readonly DedupeKey[], leaseMs: number): Promise<readonly Claim[]> {
    this.#assertOpen();
    return answerRepeats(keys, (ids) => this.reserveDistinct(ids, leaseOrDefault(leaseMs)));
  }

  async commit(claims: readonly Claim[], retentionMs: number): Promise<void> {
    this.#assertOpen();
    for (const claim of claimedOf(claims)) this.store.commit(storedKeyOf(claim.key), claim.token, retentionMs);
  }

  async release(claims: readonly Claim[]): Promise<void> {
    this.#assertOpen();
    this.giveBack(claimedOf(claims));
  }

  async ping(): Promise<void> {
    this.#assertOpen();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  protected async reserveDistinct(ids: readonly StoredId[], leaseMs: number): Promise<readonly Claim[]> {
    const held: ClaimedKey[] = [];
    try {
      return ids.map((id) => {
        const claim = this.reserveOne(id, leaseMs);
        if (claim.status === 'claimed') held.push(claim);
        return claim;
      });
    } catch (fault) {
      this.giveBack(held);
      throw fault;
    }
  }

  protected reserveOne({ key, stored }: StoredId, leaseMs: number): Claim {
    const found = this.store.look(stored);
    if (found !== 'free') return { status: found, key };
    return { status: 'claimed', key, token: this.store.hold(stored, leaseMs) };
  }

  protected giveBack(claims: readonly ClaimedKey[]): void {
    for (const claim of claims) this.store.release(storedKeyOf(claim.key), claim.token);
  }

  #assertOpen(): void {
    if (this.#closed) throw new Fault('unavailable', 'the deduplicator is closed');
  }
}
