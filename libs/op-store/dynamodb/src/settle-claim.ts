import type { CancellationReason } from '@aws-sdk/client-dynamodb';

/** Places of a claim's two items in its transaction, and so of its cancellation reasons. */
export const PREFIX_ITEM = 0;
export const UUID_ITEM = 1;

/**
 * What a cancelled claim says.
 *
 * | kind        | meaning                                                    | next                               |
 * |-------------|------------------------------------------------------------|------------------------------------|
 * | `own`       | this replica owns a prefix by now (it raced itself)        | read it, and answer that one       |
 * | `taken`     | another replica has this prefix                            | the next candidate                 |
 * | `transient` | it met another transaction, or was throttled               | the same claim again, after a wait |
 * | `fatal`     | anything else                                              | a fault                            |
 */
export type ClaimRefusal = { readonly kind: 'own' | 'taken' | 'transient' | 'fatal' };

const FAILED = 'ConditionalCheckFailed';
const TRANSIENT = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/** What is certain outranks what may pass; the replica's own claim outranks all, since its answer must never change. */
export function settleClaim(reasons: readonly CancellationReason[]): ClaimRefusal {
  if (reasons[UUID_ITEM]?.Code === FAILED) return { kind: 'own' };
  if (reasons[PREFIX_ITEM]?.Code === FAILED) return { kind: 'taken' };
  return { kind: reasons.some(({ Code }) => TRANSIENT.has(Code ?? '')) ? 'transient' : 'fatal' };
}
