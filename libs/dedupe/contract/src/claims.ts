import { LEASE_MS_DEFAULT } from '@tidemark/libs-kernel';
import type { Claim, ClaimedKey } from './deduplicator.ts';

/** The claims that Commit and Release act on; other statuses hold nothing. */
export function claimedOf(claims: readonly Claim[]): ClaimedKey[] {
  return claims.filter((claim) => claim.status === 'claimed');
}

/** A lease that is not positive means the default one, never a claim that has already lapsed. */
export function leaseOrDefault(leaseMs: number): number {
  return leaseMs > 0 ? leaseMs : LEASE_MS_DEFAULT;
}
