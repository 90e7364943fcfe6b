import {
  type Claim,
  type DedupeKey,
  type Deduplicator,
  RunningCalls,
  answerRepeats,
  claimedOf,
  leaseOrDefault,
  storedKeyOf,
} from '@tidemark/libs-dedupe-contract';
import type { Clock } from '@tidemark/libs-kernel';
import { encodeCommit, expiresAtNs } from './commit-value.ts';
import type { JoinedWrites } from './joined-writes.ts';
import type { LevelFolder } from './level-folder.ts';
import type { PendingClaims } from './pending-claims.ts';
import { reserveDistinct } from './reserve.ts';
import type { StoredIds } from './stored-ids.ts';
import type { Sweeper } from './sweep.ts';

export interface EmbeddedParts {
  readonly level: LevelFolder;
  readonly writes: JoinedWrites;
  readonly stored: StoredIds;
  readonly pending: PendingClaims;
  readonly clock: Clock;
  readonly sweeper: Sweeper;
}

export class EmbeddedDeduplicator implements Deduplicator {
  readonly #parts: EmbeddedParts;
  readonly #calls = new RunningCalls();

  constructor(parts: EmbeddedParts) {
    this.#parts = parts;
  }

  reserve(keys: readonly DedupeKey[], leaseMs: number): Promise<readonly Claim[]> {
    return this.#calls.run(() =>
      answerRepeats(keys, (ids) => reserveDistinct(this.#parts, ids, leaseOrDefault(leaseMs))),
    );
  }

  /** One batch and one fsync, shared with other commits that wait. Claims go after it, so that no reserve finds a key in neither place. */
  commit(claims: readonly Claim[], retentionMs: number): Promise<void> {
    return this.#calls.run(async () => {
      const { writes, pending, clock } = this.#parts;
      const owned = claimedOf(claims).map(({ key, token }) => ({ stored: storedKeyOf(key), token }));
      if (owned.length === 0) return;
      const value = encodeCommit(expiresAtNs(clock.now(), retentionMs));
      await writes.put(owned.map(({ stored }) => ({ type: 'put', key: stored, value })));
      for (const { stored, token } of owned) pending.drop(stored, token);
    });
  }

  release(claims: readonly Claim[]): Promise<void> {
    return this.#calls.run(async () => {
      for (const { key, token } of claimedOf(claims)) this.#parts.pending.drop(storedKeyOf(key), token);
    });
  }

  ping(): Promise<void> {
    return this.#calls.run(() => this.#parts.level.probe());
  }

  close(): Promise<void> {
    const { sweeper, level } = this.#parts;
    return this.#calls.close(
      () => sweeper.stop(),
      () => level.close(),
    );
  }
}
