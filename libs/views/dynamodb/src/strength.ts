import type { RegisterChange, RegisterVersion } from '@tidemark/libs-views-contract';

type Rule = RegisterChange['rule'];

const DIGITS = 16;
const TOP = 2n ** 64n - 1n;
const MIDDLE = 2n ** 63n;

/**
 * A version as a text whose bytes compare as the rule does: the greater text wins. So one comparison of a condition decides, instead of one
 * per part, and a request has room for many cells. Sixteen hexadecimal digits each for rank, lamport, site and seq, those that the lowest
 * shall win of counted down from the top; in front `h` or `l`, by which they are read again.
 */
export function strengthOf({ rank, lamport, site, seq }: RegisterVersion, rule: Rule): string {
  const parts = [rank, lamport, site].map((part) => (rule === 'higher' ? up(part) : down(part)));
  return `${rule[0]}${parts.join('')}${down(seq)}`;
}

export function versionOf(strength: string): RegisterVersion {
  const read = strength.startsWith('h') ? readUp : readDown;
  const part = (nth: number) => strength.slice(1 + nth * DIGITS, 1 + (nth + 1) * DIGITS);
  return { rank: read(part(0)), lamport: read(part(1)), site: read(part(2)), seq: readDown(part(3)) };
}

const hex = (value: bigint) => value.toString(16).padStart(DIGITS, '0');
const up = (value: bigint) => hex(value + MIDDLE);
const down = (value: bigint) => hex(TOP - (value + MIDDLE));
const readUp = (text: string) => BigInt(`0x${text}`) - MIDDLE;
const readDown = (text: string) => TOP - BigInt(`0x${text}`) - MIDDLE;
