import type { Claim, ClaimedKey, Deduplicator, DedupeKey } from '@tidemark/libs-dedupe-contract';
import { type Fault, asFault, assert } from '@tidemark/libs-kernel';
import type { Prepared } from './prepare.ts';

/** Where a record stands before it is published. */
export type Standing =
  | { readonly kind: 'rejected' | 'unkeyed' | 'duplicate' | 'in_flight' }
  | { readonly kind: 'repeat'; readonly of: number }
  /** The same id as a record of an earlier window of the request, under a claim that the store does not know as committed. */
  | { readonly kind: 'earlier'; readonly id: string }
  | { readonly kind: 'claimed'; readonly claim: ClaimedKey };

export type Reservation =
  | { readonly kind: 'reserved'; readonly standings: readonly Standing[] }
  /** Nothing is held. */
  | { readonly kind: 'failed'; readonly fault: Fault };

/**
 * Claims the ids of a window with one Reserve, none when no record has an id. An id that occurs twice is asked once: the later record
 * shares the fate of the first, whatever that will be. An id in `held` is claimed by an earlier window of this request: it shares that
 * record's fate, and is not in flight.
 */
export async function reserve(
  records: readonly Prepared[],
  held: ReadonlySet<string>,
  deduplicator: Pick<Deduplicator, 'reserve'>,
  leaseMs: number,
): Promise<Reservation> {
  const asked = new Map<string, number>();
  const keys: DedupeKey[] = [];
  const standings = records.map((record, position): Standing | number => {
    if (record.kind === 'rejected') return { kind: 'rejected' };
    if (record.key === null) return { kind: 'unkeyed' };
    if (held.has(record.key.id)) return { kind: 'earlier', id: record.key.id };
    const first = asked.get(record.key.id);
    if (first !== undefined) return { kind: 'repeat', of: first };
    asked.set(record.key.id, position);
    return keys.push(record.key) - 1;
  });
  try {
    const claims = keys.length === 0 ? [] : await deduplicator.reserve(keys, leaseMs);
    assert(claims.length === keys.length, `${claims.length} claims for ${keys.length} keys`);
    return {
      kind: 'reserved',
      standings: standings.map((standing) => (typeof standing === 'number' ? standingOf(claims[standing]) : standing)),
    };
  } catch (thrown) {
    return { kind: 'failed', fault: asFault(thrown) };
  }
}

function standingOf(claim: Claim | undefined): Standing {
  assert(claim !== undefined, 'a claim for every key');
  return claim.status === 'claimed' ? { kind: 'claimed', claim } : { kind: claim.status };
}
