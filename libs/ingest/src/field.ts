import { JsonObject, type JsonValue } from '@tidemark/libs-wire';

/** A place in a record, as settings name it. */
export interface Field {
  /** As it was written, for messages. */
  readonly text: string;
  /** Names of members, and positions in arrays, from the outside in. */
  readonly path: readonly string[];
}

/** A member by its name, or any place by a JSON pointer (RFC 6901), which begins with a slash. Null when the text is neither. */
export function parseField(text: string): Field | null {
  if (!text.isWellFormed()) return null;
  if (!text.startsWith('/')) return text === '' ? null : { text, path: [text] };
  if (/~(?![01])/.test(text)) return null;
  const path = text
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return { text, path };
}

/** The member of that name, also one that begins with a slash. */
export const memberField = (name: string): Field => ({ text: name, path: [name] });

export type Found =
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'absent' }
  /** A member on the way is given twice: readers disagree about which one counts. */
  | { readonly kind: 'repeated' };

export function findIn(record: JsonValue, { path }: Field): Found {
  let value: JsonValue | undefined = record;
  for (const step of path) {
    if (value instanceof JsonObject && value.repeated.includes(step)) return { kind: 'repeated' };
    value = childOf(value, step);
    if (value === undefined) return { kind: 'absent' };
  }
  return { kind: 'value', value };
}

function childOf(value: JsonValue, step: string): JsonValue | undefined {
  if (value instanceof JsonObject) return value.members.get(step);
  return Array.isArray(value) && /^(0|[1-9]\d*)$/.test(step) ? value[Number(step)] : undefined;
}
