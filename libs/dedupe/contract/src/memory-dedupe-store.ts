import type { Clock, Random } from '@tidemark/libs-kernel';

export interface Pending {
  readonly token: string;
  readonly leaseMs: number;
  /** On the monotonic clock. */
  readonly sinceMs: number;
}

export interface Committed {
  readonly token: string;
  /** <= 0: for ever. */
  readonly retentionMs: number;
  /** On the wall clock. */
  readonly sinceMs: number;
}

/**
 * What memory deduplicators share, as processes share a table: claims and commits by stored key. Every method is one atomic step.
 * Kept as a plain state machine so that a mutant can break one step.
 */
export class MemoryDedupeStore {
  protected readonly pending = new Map<string, Pending>();
  protected readonly committed = new Map<string, Committed>();
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(options: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = options.clock;
    this.#random = options.random;
  }

  /** What a reserve would find now. */
  look(stored: string): 'free' | 'duplicate' | 'in_flight' {
    const claim = this.pending.get(stored);
    if (claim && this.holds(claim)) return 'in_flight';
    const commit = this.committed.get(stored);
    return commit && this.remembers(commit) ? 'duplicate' : 'free';
  }

  /** Puts a claim in place of whatever lapsed there; answers its token. */
  hold(stored: string, leaseMs: number): string {
    const token = Buffer.from(this.#random.bytes(16)).toString('hex');
    this.pending.set(stored, { token, leaseMs, sinceMs: this.#clock.monotonic() });
    return token;
  }

  commit(stored: string, token: string, retentionMs: number): void {
    this.committed.set(stored, { token, retentionMs, sinceMs: this.#clock.now() });
    this.#dropOwn(stored, token);
  }

  release(stored: string, token: string): void {
    this.#dropOwn(stored, token);
  }

  /** What the death of the only process does to a store that keeps its claims in memory: every lease lapses at once. */
  forgetClaims(): void {
    this.pending.clear();
  }

  protected holds(claim: Pending): boolean {
    return this.#clock.monotonic() - claim.sinceMs < claim.leaseMs;
  }

  protected remembers(commit: Committed): boolean {
    return commit.retentionMs <= 0 || this.#clock.now() - commit.sinceMs < commit.retentionMs;
  }

  #dropOwn(stored: string, token: string): void {
    if (this.pending.get(stored)?.token === token) this.pending.delete(stored);
  }
}
