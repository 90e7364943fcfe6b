import type { Claim, Deduplicator } from '@tidemark/libs-dedupe-contract';
import { type Fault, asFault } from '@tidemark/libs-kernel';

/**
 * Marks published ids with one Commit, none for no claims. The events are stored: a fault is told to the operator, not to the client,
 * and the claims lapse. Never rejects; null when it worked.
 */
export function commit(
  claims: readonly Claim[],
  retentionMs: number,
  deduplicator: Pick<Deduplicator, 'commit'>,
): Promise<Fault | null> {
  return claims.length === 0 ? NOTHING : faultOf(() => deduplicator.commit(claims, retentionMs));
}

/** Gives back ids of events that are certainly not stored. A fault costs the next try one lease. Never rejects; null when it worked. */
export function release(claims: readonly Claim[], deduplicator: Pick<Deduplicator, 'release'>): Promise<Fault | null> {
  return claims.length === 0 ? NOTHING : faultOf(() => deduplicator.release(claims));
}

const NOTHING: Promise<null> = Promise.resolve(null);

async function faultOf(work: () => Promise<void>): Promise<Fault | null> {
  try {
    await work();
    return null;
  } catch (thrown) {
    return asFault(thrown);
  }
}
