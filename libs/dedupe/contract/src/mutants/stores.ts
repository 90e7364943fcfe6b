import { Fault } from '@tidemark/libs-kernel';
import { type Committed, MemoryDedupeStore, type Pending } from '../memory-dedupe-store.ts';
import { type MemoryParts, soundParts } from '../memory-harness.ts';

const IDS_REMEMBERED_MAX = 5_000;

/** Steps of the store, broken. */
export const storeMutants: Readonly<Record<string, MemoryParts>> = {
  releaseIgnoresToken: withStore(
    class extends MemoryDedupeStore {
      override release(stored: string): void {
        this.pending.delete(stored);
      }
    },
  ),
  releaseUndoesCommit: withStore(
    class extends MemoryDedupeStore {
      override release(stored: string, token: string): void {
        if (this.committed.get(stored)?.token === token) this.committed.delete(stored);
        super.release(stored, token);
      }
    },
  ),
  commitFencedByToken: withStore(
    class extends MemoryDedupeStore {
      override commit(stored: string, token: string, retentionMs: number): void {
        if (this.pending.get(stored)?.token === token) super.commit(stored, token, retentionMs);
      }
    },
  ),
  refusesRepeatedCommit: withStore(
    class extends MemoryDedupeStore {
      override commit(stored: string, token: string, retentionMs: number): void {
        if (this.committed.get(stored)?.token === token) throw new Fault('conflict', 'already committed');
        super.commit(stored, token, retentionMs);
      }
    },
  ),
  forgetsByCount: withStore(
    class extends MemoryDedupeStore {
      override commit(stored: string, token: string, retentionMs: number): void {
        super.commit(stored, token, retentionMs);
        const [oldest] = this.committed.keys();
        if (this.committed.size > IDS_REMEMBERED_MAX) this.committed.delete(oldest!);
      }
    },
  ),
  leaseEndsEarly: withStore(holding((claim) => ({ ...claim, leaseMs: claim.leaseMs - 1 }))),
  leaseEndsLate: withStore(holding((claim) => ({ ...claim, leaseMs: claim.leaseMs + 1 }))),
  retentionEndsEarly: withStore(remembering((commit) => commit.retentionMs - 1)),
  retentionEndsLate: withStore(remembering((commit) => commit.retentionMs + 1)),
  retentionZeroEnds: withStore(
    class extends MemoryDedupeStore {
      protected override remembers(commit: Committed): boolean {
        return commit.retentionMs > 0 && super.remembers(commit);
      }
    },
  ),
  lastRetentionForAll: withStore(
    class extends MemoryDedupeStore {
      #lastMs = 0;
      override commit(stored: string, token: string, retentionMs: number): void {
        this.#lastMs = retentionMs;
        super.commit(stored, token, retentionMs);
      }
      protected override remembers(commit: Committed): boolean {
        return super.remembers({ ...commit, retentionMs: this.#lastMs });
      }
    },
  ),
};

function withStore(Store: MemoryParts['Store']): MemoryParts {
  return { ...soundParts, Store };
}

function holding(instead: (claim: Pending) => Pending): MemoryParts['Store'] {
  return class extends MemoryDedupeStore {
    protected override holds(claim: Pending): boolean {
      return super.holds(instead(claim));
    }
  };
}

function remembering(finiteMs: (commit: Committed) => number): MemoryParts['Store'] {
  return class extends MemoryDedupeStore {
    protected override remembers(commit: Committed): boolean {
      return super.remembers(commit.retentionMs > 0 ? { ...commit, retentionMs: finiteMs(commit) } : commit);
    }
  };
}
