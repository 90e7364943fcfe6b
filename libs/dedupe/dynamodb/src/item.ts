import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Claim } from '@tidemark/libs-dedupe-contract';
import type { Item } from './table.ts';

export const PENDING: AttributeValue = { N: '1' };
export const COMMITTED: AttributeValue = { N: '2' };

/** An id that somebody holds until its lease ends. */
export function claimItem(stored: string, token: string, endMs: number): Item {
  return { pk: { S: stored }, st: PENDING, ex: { N: `${secondsUp(endMs)}` }, tk: tokenValue(token) };
}

/** An id that is a duplicate until its retention ends; null: for ever. */
export function committedItem(stored: string, token: string, endMs: number | null): Item {
  const end = endMs === null ? {} : { ex: { N: `${secondsUp(endMs)}` } };
  return { pk: { S: stored }, st: COMMITTED, ...end, tk: tokenValue(token) };
}

/** End of a retention that begins now; null: never, which is also what one too long to count comes to. */
export function retentionEndMs(nowMs: number, retentionMs: number): number | null {
  return retentionMs > 0 && retentionMs <= Number.MAX_SAFE_INTEGER ? nowMs + retentionMs : null;
}

/** What a reserve is answered where it did not get the key. An item with its own token is that of an attempt whose answer was lost. */
export function statusOf(held: Item | undefined, token: string): Claim['status'] {
  if (held?.['st']?.N === COMMITTED.N) return 'duplicate';
  const holder = held?.['tk']?.B;
  return holder !== undefined && Buffer.from(holder).toString('hex') === token ? 'claimed' : 'in_flight';
}

export function tokenValue(token: string): AttributeValue {
  return { B: Buffer.from(token, 'hex') };
}

/** Unix seconds; an end that is not a whole second is later by less than one, never earlier. */
function secondsUp(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** Unix seconds that are over. */
export function secondsDown(ms: number): number {
  return Math.floor(ms / 1000);
}
