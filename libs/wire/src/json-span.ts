import { JsonScanner, OPEN_BRACE, OPEN_BRACKET } from './json-scanner.ts';

/** Where a value stands in its source: from its first unit to after its last. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * The place of the value at `path` (names of members, and positions in arrays) in a text that is known to be JSON; null when it has none.
 * Of a repeated member it is the first: who must not choose looks for repeats before.
 */
export function jsonSpan(text: string, path: readonly string[]): JsonSpan | null {
  const scan = new JsonScanner(text);
  for (const step of path) if (!enterAt(scan, step)) return null;
  scan.peek();
  const start = scan.at;
  scan.skip();
  return { start, end: scan.at };
}

/** Goes to the value of the member or element; false when there is none. */
function enterAt(scan: JsonScanner, step: string): boolean {
  const open = scan.peek();
  if ((open !== OPEN_BRACE && open !== OPEN_BRACKET) || !scan.enter(open)) return false;
  for (let position = 0; ; position++) {
    const name = open === OPEN_BRACE ? scan.key() : String(position);
    if (name === step) return true;
    scan.skip();
    if (!scan.more(open)) return false;
  }
}
