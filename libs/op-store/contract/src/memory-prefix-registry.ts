import { Fault } from '@tidemark/libs-kernel';
import { prefixCandidate } from '@tidemark/libs-wire';
import { PREFIX_CANDIDATES_MAX, type PrefixRegistry, type Registration } from './prefix-registry.ts';

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
    const owned = this.claimsOf(stream).prefixes.get(replicaUuid);
    if (owned !== undefined) return answer(prefix, owned);
    const free = this.isFree(stream, prefix) ? prefix : this.firstFreeCandidate(stream, replicaUuid);
    this.claim(stream, free, replicaUuid);
    return answer(prefix, free);
  }

  protected claimsOf(stream: string): StreamClaims {
    const claims = this.claims.get(stream) ?? { owners: new Map(), prefixes: new Map() };
    this.claims.set(stream, claims);
    return claims;
  }

  protected isFree(stream: string, prefix: string): boolean {
    return !this.claimsOf(stream).owners.has(prefix);
  }

  protected claim(stream: string, prefix: string, replicaUuid: string): void {
    const { owners, prefixes } = this.claimsOf(stream);
    owners.set(prefix, replicaUuid);
    prefixes.set(replicaUuid, prefix);
  }

  protected firstFreeCandidate(stream: string, replicaUuid: string): string {
    for (let n = 0; n < PREFIX_CANDIDATES_MAX; n++) {
      const candidate = prefixCandidate(replicaUuid, n);
      if (this.isFree(stream, candidate)) return candidate;
    }
    throw new Fault('unavailable', 'prefix space exhausted');
  }
}

function answer(asked: string, owned: string): Registration {
  return asked === owned ? { outcome: 'registered' } : { outcome: 'reassigned', newPrefix: owned };
}
