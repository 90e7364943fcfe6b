import { JsonNumber, JsonObject, type JsonValue } from './json-value.ts';

/** Units that JSON.stringify may escape. */
const MAY_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/;
/** Up to here looking first is quicker than the call into the engine. */
const SHORT = 200;

/**
 * A JSON string token. Escapes what RFC 8259 requires and nothing else. A lone surrogate comes out as its `\uXXXX` escape, which
 * keeps it apart from every other text and which our reader refuses.
 */
export function quoteJson(text: string): string {
  return text.length > SHORT || MAY_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** Compact text of the value, members in their order, numbers by their token. Any depth: it does not recurse. */
export function writeJson(value: JsonValue): string {
  const pieces: string[] = [];
  const pending: (JsonValue | Piece)[] = [value];
  while (pending.length > 0) {
    const next = pending.pop() as JsonValue | Piece;
    if (next instanceof Piece) pieces.push(next.text);
    else if (Array.isArray(next)) pushArray(pending, next);
    else if (next instanceof JsonObject) pushObject(pending, next);
    else pieces.push(scalarText(next));
  }
  return pieces.join('');
}

/** Text that is written as it stands. */
class Piece {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const CLOSE_ARRAY = new Piece(']');
const CLOSE_OBJECT = new Piece('}');
const COMMA = new Piece(',');

/** The stack gives back the last one first, so everything goes on it in reverse. */
function pushArray(pending: (JsonValue | Piece)[], array: readonly JsonValue[]): void {
  pending.push(CLOSE_ARRAY);
  for (let i = array.length - 1; i >= 0; i--) {
    pending.push(array[i] as JsonValue);
    if (i > 0) pending.push(COMMA);
  }
  pending.push(new Piece('['));
}

function pushObject(pending: (JsonValue | Piece)[], object: JsonObject): void {
  pending.push(CLOSE_OBJECT);
  const members = [...object.members];
  for (let i = members.length - 1; i >= 0; i--) {
    const [key, value] = members[i] as [string, JsonValue];
    pending.push(value, new Piece(`${i > 0 ? ',' : ''}${quoteJson(key)}:`));
  }
  pending.push(new Piece('{'));
}

function scalarText(value: null | boolean | string | JsonNumber): string {
  if (value instanceof JsonNumber) return value.text;
  return typeof value === 'string' ? quoteJson(value) : String(value);
}
