import { assert } from '@tidemark/libs-kernel';
import { storedKey } from '@tidemark/libs-wire';
import type { Claim, DedupeKey } from './deduplicator.ts';

/** A key beside the form under which every store keeps it. */
export interface StoredId {
  readonly key: DedupeKey;
  readonly stored: string;
}

/**
 * Reserves each key of one call once: the first occurrence gets the store's answer, every later one is `duplicate` whatever the
 * first was answered, because this very call already speaks for it. Answers stand in the order of `keys`. Every backend reserves
 * through this, so that none of them sees a key twice. No keys: nothing is asked.
 */
export async function answerRepeats(
  keys: readonly DedupeKey[],
  reserveDistinct: (ids: readonly StoredId[]) => Promise<readonly Claim[]>,
): Promise<readonly Claim[]> {
  const { distinct, isFirst } = firstOccurrences(keys);
  if (distinct.length === 0) return [];
  const answers = await reserveDistinct(distinct);
  assert(answers.length === distinct.length, 'a store answers every key that it was asked');
  let next = 0;
  return keys.map((key, i) => (isFirst[i] ? answers[next++]! : { status: 'duplicate', key }));
}

function firstOccurrences(keys: readonly DedupeKey[]): { distinct: StoredId[]; isFirst: boolean[] } {
  const seen = new Set<string>();
  const distinct: StoredId[] = [];
  const isFirst = keys.map((key) => {
    const stored = storedKeyOf(key);
    if (seen.has(stored)) return false;
    seen.add(stored);
    distinct.push({ key, stored });
    return true;
  });
  return { distinct, isFirst };
}

export function storedKeyOf(key: DedupeKey): string {
  return storedKey(key.tenant, key.table, key.id);
}
