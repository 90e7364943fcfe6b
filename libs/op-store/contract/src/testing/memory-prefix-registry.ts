import { Fault } from '@tidemark/libs-kernel';
import { prefixCandidate } from '@tidemark/libs-wire';
import { PREFIX_CANDIDATES_MAX, type PrefixRegistry, type Registration } from '../prefix-registry.ts';

interface StreamClaims {
  /** Prefix to the replica that owns it, and back. */
  readonly owners: Map<string, string>;
  readonly prefixes: Map<string, string>;
}

/** What handles share, as processes share a database: the claims of each stream. */
export type MemoryClaims = Map<string, StreamClaims>;

export class MemoryPrefixRegistry implements PrefixRegistry {
  protected readonly claims: MemoryClaims;

  constructor(claims: MemoryClaims = new Map()) {
    this.claims = claims;
  }

  async register(stream: string, prefix: string, replicaUuid: string): Promise<Registration> {
    const { owners, prefixes } = this.claimsOf(stream);
    const owned = prefixes.get(replicaUuid);
    if (owned !== undefined) return answer(prefix, owned);
    const free = owners.has(prefix) ? firstFreeCandidate(owners, replicaUuid) : prefix;
    owners.set(free, replicaUuid);
    prefixes.set(replicaUuid, free);
    return answer(prefix, free);
  }

  protected claimsOf(stream: string): StreamClaims {
    const claims = this.claims.get(stream) ?? { owners: new Map(), prefixes: new Map() };
    this.claims.set(stream, claims);
    return claims;
  }
}

function firstFreeCandidate(owners: ReadonlyMap<string, string>, replicaUuid: string): string {
  for (let n = 0; n < PREFIX_CANDIDATES_MAX; n++) {
    const candidate = prefixCandidate(replicaUuid, n);
    if (!owners.has(candidate)) return candidate;
  }
  throw new Fault('unavailable', 'prefix space exhausted');
}

function answer(asked: string, owned: string): Registration {
  return asked === owned ? { outcome: 'registered' } : { outcome: 'reassigned', newPrefix: owned };
}
