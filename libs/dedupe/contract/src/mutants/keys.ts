import { createHash } from 'node:crypto';
import type { Claim, DedupeKey, Deduplicator } from '../deduplicator.ts';
import { type MemoryParts, soundParts } from '../memory-harness.ts';

/** Stored forms that run into each other. */
export const keyMutants: Readonly<Record<string, MemoryParts>> = {
  tablesShareIds: rekeyed((key) => (/^[a-z]+$/.test(key.table) ? { ...key, table: 'any' } : key)),
  tenantsShareIds: rekeyed((key) => ({ ...key, tenant: '0' })),
  keyPartsRunTogether: rekeyed(({ tenant, table, id }) => ({ tenant: '0', table: '', id: tenant + table + id })),
  cleansTableNames: rekeyed((key) => ({ ...key, table: key.table.replaceAll(/[^a-z]/g, '_') })),
  trimsIds: rekeyed((key) => ({ ...key, id: key.id.trim() })),
  cutsLongIds: rekeyed((key) => ({ ...key, id: key.id.slice(0, 1024) })),
  hashesCollideWithIds: rekeyed((key) => (key.id.length > 1024 ? { ...key, id: sha256(key.id) } : key)),
};

/** A sound model that is asked about other keys. */
function rekeyed(otherKey: (key: DedupeKey) => DedupeKey): MemoryParts {
  return { ...soundParts, connect: (store) => rekey(soundParts.connect(store), otherKey) };
}

function rekey(inner: Deduplicator, otherKey: (key: DedupeKey) => DedupeKey): Deduplicator {
  const other = (claims: readonly Claim[]) => claims.map((claim) => ({ ...claim, key: otherKey(claim.key) }));
  return {
    reserve: async (keys, leaseMs) => {
      const claims = await inner.reserve(keys.map(otherKey), leaseMs);
      return claims.map((claim, i) => ({ ...claim, key: keys[i]! }));
    },
    commit: (claims, retentionMs) => inner.commit(other(claims), retentionMs),
    release: (claims) => inner.release(other(claims)),
    ping: () => inner.ping(),
    close: () => inner.close(),
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
