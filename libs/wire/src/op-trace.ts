import { readJson } from './json-read.ts';
import { JsonObject } from './json-value.ts';
import type { Op } from './op.ts';

/** The one form that is carried; all of it is ASCII, so it stands in JSON as it is. */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

export function isTraceparent(text: string): boolean {
  return TRACEPARENT.test(text);
}

/** The extra of an op that continues a trace, or none. */
export function tracedExtra(traceparent: string | undefined): string {
  return traceparent === undefined ? '{}' : `{"traceparent":"${traceparent}"}`;
}

/** The trace that the op continues: its member `traceparent`; null when it has none, or something else by that name. Never throws. */
export function opTraceparent({ extra }: Op): string | null {
  if (!extra.includes('"traceparent"')) return null;
  try {
    const object = readJson(extra);
    const value = object instanceof JsonObject ? object.members.get('traceparent') : null;
    return typeof value === 'string' && isTraceparent(value) ? value : null;
  } catch {
    // Whoever needs the extra itself says that it cannot be read.
    return null;
  }
}

/** The traces that the ops continue, each once. */
export function traceparentsOf(ops: Iterable<Op>): string[] {
  const found = new Set<string>();
  for (const op of ops) {
    const traceparent = opTraceparent(op);
    if (traceparent !== null) found.add(traceparent);
  }
  return [...found];
}
