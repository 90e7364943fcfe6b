import { createHash } from 'node:crypto';

/** The n-th stored id: they come in no order, as real ids do. */
export function storedId(n: number): string {
  return `acme/clicks/${createHash('md5').update(`${n}`).digest('hex')}`;
}

export function storedIds(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => storedId(from + i));
}

/** Ids of which every second one is among the first `stored`, spread over all of them; the others were never stored. */
export function halfKnown(stored: number, count: number, turn: number): { keys: string[]; known: boolean[] } {
  const known = Array.from({ length: count }, (_, i) => i % 2 === 1);
  const keys = known.map((is, i) => storedId(is ? (turn * 7_919 + i * 104_729) % stored : -1 - turn * count - i));
  return { keys, known };
}
