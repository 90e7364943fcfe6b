import { prefixCandidate } from '@tidemark/libs-wire';
import { type MemoryClaims, MemoryPrefixRegistry } from '../memory-prefix-registry.ts';
import type { Registration } from '../prefix-registry.ts';

/** Broken registries by the name in a case's `kills`. */
export const prefixMutants: Readonly<Record<string, new (claims: MemoryClaims) => MemoryPrefixRegistry>> = {
  'starts-at-the-second-candidate': class extends MemoryPrefixRegistry {
    protected override firstFreeCandidate(stream: string, replicaUuid: string): string {
      const first = super.firstFreeCandidate(stream, replicaUuid);
      return first === prefixCandidate(replicaUuid, 0) ? prefixCandidate(replicaUuid, 1) : first;
    }
  },
  'tries-one-candidate': class extends MemoryPrefixRegistry {
    protected override firstFreeCandidate(_stream: string, replicaUuid: string): string {
      return prefixCandidate(replicaUuid, 0);
    }
  },
  'claims-again-on-a-repeat': class extends MemoryPrefixRegistry {
    override async register(stream: string, prefix: string, replicaUuid: string): Promise<Registration> {
      const owned = this.claimsOf(stream).prefixes.get(replicaUuid);
      if (owned !== prefix && !this.isFree(stream, prefix)) this.claimsOf(stream).prefixes.delete(replicaUuid);
      return super.register(stream, prefix, replicaUuid);
    }
  },
  'gives-a-second-prefix': class extends MemoryPrefixRegistry {
    override async register(stream: string, prefix: string, replicaUuid: string): Promise<Registration> {
      if (this.isFree(stream, prefix)) this.claimsOf(stream).prefixes.delete(replicaUuid);
      return super.register(stream, prefix, replicaUuid);
    }
  },
  'holds-one-space-for-all-streams': class extends MemoryPrefixRegistry {
    override async register(_stream: string, prefix: string, replicaUuid: string): Promise<Registration> {
      return super.register('', prefix, replicaUuid);
    }
  },
  'cuts-a-long-uuid': class extends MemoryPrefixRegistry {
    override async register(stream: string, prefix: string, replicaUuid: string): Promise<Registration> {
      return super.register(stream, prefix, replicaUuid.slice(0, 255));
    }
  },
  'looks-before-it-claims': class extends MemoryPrefixRegistry {
    override async register(stream: string, prefix: string, replicaUuid: string): Promise<Registration> {
      const free = this.isFree(stream, prefix);
      await Promise.resolve();
      if (!free || this.claimsOf(stream).prefixes.has(replicaUuid)) return super.register(stream, prefix, replicaUuid);
      this.claim(stream, prefix, replicaUuid);
      return { outcome: 'registered' };
    }
  },
  'loses-against-itself': class extends MemoryPrefixRegistry {
    override async register(stream: string, prefix: string, replicaUuid: string): Promise<Registration> {
      const known = this.claimsOf(stream).prefixes.has(replicaUuid);
      await Promise.resolve();
      if (known || !this.claimsOf(stream).prefixes.has(replicaUuid)) return super.register(stream, prefix, replicaUuid);
      return { outcome: 'reassigned', newPrefix: this.firstFreeCandidate(stream, replicaUuid) };
    }
  },
  'forgets-on-open': class extends MemoryPrefixRegistry {
    constructor(claims: MemoryClaims) {
      claims.clear();
      super(claims);
    }
  },
};
