import { createHash } from 'node:crypto';
import { utf8Bytes } from './unicode.ts';

/**
 * The sort key, always below 0, under which the claim of an op id is stored: the first 63 bits of the id's SHA-256, complemented.
 * Stored data depends on it: it never changes. Two ids may share one (then the claim names the other id). Lone surrogate: 'invalid'.
 */
export function claimSeq(opId: string): bigint {
  const digest = createHash('sha256').update(utf8Bytes(opId)).digest();
  return -(digest.readBigUInt64BE(0) >> 1n) - 1n;
}
