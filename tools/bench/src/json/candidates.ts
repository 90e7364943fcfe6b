import { parse as parseLossless } from 'lossless-json';
import type { Candidate } from '../measure/alternate.ts';

/** JSON.parse with the source text of every number: the reviver sees each value of the document. */
export function parseWithSource(text: string): unknown {
  return JSON.parse(text, ((_key: string, value: unknown, context: { source?: string }) =>
    typeof value === 'number' ? new SourceNumber(context.source as string) : value) as (
    key: string,
    value: unknown,
  ) => unknown);
}

/** A number as its digits, like the one of lossless-json. */
export class SourceNumber {
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }
}

/**
 * What a reader over bytes cannot do without, and nothing else: finding the quotes and making a string of every text, unchecked.
 * A real one would also judge the syntax, the escapes and the numbers.
 */
export function cutStringsFromBytes(bytes: Buffer): number {
  let strings = 0;
  let open = -1;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== 0x22) continue;
    if (open >= 0) strings += bytes.toString('latin1', open + 1, at) === '' ? 0 : 1;
    open = open < 0 ? at : -1;
  }
  return strings;
}

/** Every reader that yields a tree, over the same texts. */
export function treeCandidates(texts: readonly string[]): Candidate[] {
  return [
    { name: 'JSON.parse', run: () => texts.map((text): unknown => JSON.parse(text)) },
    { name: 'JSON.parse + source reviver', run: () => texts.map(parseWithSource) },
    { name: 'lossless-json', run: () => texts.map((text) => parseLossless(text)) },
  ];
}
