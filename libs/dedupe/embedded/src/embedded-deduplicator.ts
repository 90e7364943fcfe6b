import {
  type Claim,
  type DedupeKey,
  type Deduplicator,
  answerRepeats,
  claimedOf,
  leaseOrDefault,
  storedKeyOf,
} from '@tidemark/libs-dedupe-contract';
import { type Clock, Fault } from '@tidemark/libs-kernel';
import { encodeCommit, expiresAtNs } from './commit-value.ts';
import type { JoinedWrites } from './joined-writes.ts';
import type { LevelFolder } from './level-folder.ts';
import type { PendingClaims } from './pending-claims.ts';
import { reserveDistinct } from './reserve.ts';
import type { Sweeper } from './sweep.ts';

export interface EmbeddedParts {
  readonly level: LevelFolder;
  readonly writes: JoinedWrites;
  readonly pending: PendingClaims;
  readonly clock: Clock;
  readonly sweeper: Sweeper;
}

export class EmbeddedDeduplicator implements Deduplicator {
  readonly #parts: EmbeddedParts;
  readonly #running = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(parts: EmbeddedParts) {
    this.#parts = parts;
  }

  reserve(keys: readonly DedupeKey[], leaseMs: number): Promise<readonly Claim[]> {
    return this.#run(() => answerRepeats(keys, (ids) => reserveDistinct(this.#parts, ids, leaseOrDefault(leaseMs))));
  }

  /** One batch and one fsync, shared with other commits that wait. Claims go after it, so that no reserve finds a key in neither place. */
  commit(claims: readonly Claim[], retentionMs: number): Promise<void> {
    return this.#run(async () => {
      const { writes, pending, clock } = this.#parts;
      const owned = claimedOf(claims).map(({ key, token }) => ({ stored: storedKeyOf(key), token }));
      if (owned.length === 0) return;
      const value = encodeCommit(expiresAtNs(clock.now(), retentionMs));
      await writes.put(owned.map(({ stored }) => ({ type: 'put', key: stored, value })));
      for (const { stored, token } of owned) pending.drop(stored, token);
    });
  }

  release(claims: readonly Claim[]): Promise<void> {
    return this.#run(async () => {
      for (const { key, token } of claimedOf(claims)) this.#parts.pending.drop(storedKeyOf(key), token);
    });
  }

  ping(): Promise<void> {
    return this.#run(() => this.#parts.level.probe());
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await Promise.allSettled([this.#parts.sweeper.stop(), ...this.#running]);
    await this.#parts.level.close();
  }

  async #run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new Fault('unavailable', 'the dedupe store is closed');
    const running = call();
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }
}
