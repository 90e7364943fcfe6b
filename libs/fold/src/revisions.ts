import type { Revisions } from '@tidemark/libs-views-contract';
import type { Reducer } from './reduce.ts';

/**
 * How the reducers of this worker stand to those that folded an epoch. `newer`: no domain is lower and some is higher, so the epoch has to
 * be folded again. `older`: the other way round. `mixed`: both, and so nobody can say which view is the better one.
 */
export type Standing = 'same' | 'newer' | 'older' | 'mixed';

export function revisionsOf(reducers: readonly Reducer[]): Revisions {
  return new Map(reducers.map(({ domain, revision }) => [domain, revision]));
}

/** A domain that one side has alone is lower than any revision on the other. */
export function standingOf(ours: Revisions, folded: Revisions): Standing {
  let [isHigher, isLower] = [false, false];
  for (const domain of new Set([...ours.keys(), ...folded.keys()])) {
    const [own, other] = [ours.get(domain) ?? -1, folded.get(domain) ?? -1];
    isHigher ||= own > other;
    isLower ||= own < other;
  }
  if (isHigher) return isLower ? 'mixed' : 'newer';
  return isLower ? 'older' : 'same';
}
