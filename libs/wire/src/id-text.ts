import { JsonNumber, type JsonValue } from './json-value.ts';

export type IdText =
  | { readonly kind: 'id'; readonly text: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * The text that a record's id is deduplicated by (ING-7): strings by their text, numbers by their source digits, so `1` and `"1"` are
 * one id, `1` and `1.0` are two, and no digit of a 64-bit number is lost. A missing id is null, and like "" it is no id.
 */
export function idText(value: JsonValue): IdText {
  if (value === null || value === '') return { kind: 'none' };
  if (typeof value === 'string') return { kind: 'id', text: value };
  if (typeof value === 'boolean') return { kind: 'id', text: String(value) };
  if (value instanceof JsonNumber) return { kind: 'id', text: value.text };
  return { kind: 'refused', reason: `an ${Array.isArray(value) ? 'array' : 'object'} is no id` };
}
