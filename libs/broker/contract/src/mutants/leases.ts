import type { Lease } from '../broker.ts';
import type { MemoryParts } from '../memory-harness.ts';
import { type Holding, MemoryLeases } from '../memory-leases.ts';

/** Leases, broken. */
export const leaseMutants: Readonly<Record<string, MemoryParts>> = {
  leaseForEverybody: withLeases(
    class extends MemoryLeases {
      override isFree(): boolean {
        return true;
      }
    },
  ),
  oneLeaseForAllNames: withLeases(
    class extends MemoryLeases {
      override acquire(_name: string, owner: string, ttlMs: number): Lease | null {
        return super.acquire('lease', owner, ttlMs);
      }
    },
  ),
  ownerIsLockedOut: withLeases(
    class extends MemoryLeases {
      override isFree(name: string): boolean {
        return super.isFree(name, 'nobody');
      }
    },
  ),
  leaseNeverEnds: withLeases(
    class extends MemoryLeases {
      override runs(): boolean {
        return true;
      }
    },
  ),
  renewProlongsNothing: withLeases(
    class extends MemoryLeases {
      override renew(name: string, holding: Holding): boolean {
        return this.isHeld(name, holding);
      }
    },
  ),
  releaseKeepsTheLease: withLeases(
    class extends MemoryLeases {
      override release(): void {}
    },
  ),
  renewsWhatRanOut: withLeases(
    class extends MemoryLeases {
      override renew(name: string, holding: Holding): boolean {
        return super.renew(name, holding) || !this.runs(holding);
      }
    },
  ),
  releaseFreesOthers: withLeases(
    class extends MemoryLeases {
      override release(name: string): void {
        this.held.delete(name);
      }
    },
  ),
};

function withLeases(Leases: typeof MemoryLeases): MemoryParts {
  return { Leases };
}
