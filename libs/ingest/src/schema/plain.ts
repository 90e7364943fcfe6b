import { JsonNumber, JsonObject, type JsonValue } from '@tidemark/libs-wire';

/** A JSON document as the schema engine reads it. */
export type Plain = null | boolean | string | number | Plain[] | PlainObject;
export interface PlainObject {
  [name: string]: Plain;
}

/** A member that occurs twice in one object. */
export class RepeatedMember extends Error {
  readonly member: string;

  constructor(member: string) {
    super('repeated member');
    this.member = member;
  }
}

/**
 * The document with its numbers as doubles, and with objects that inherit nothing, so that no name of a member means anything to the
 * engine. Throws RepeatedMember: the schema would judge one value of the two, and a reader may take the other. Nesting is bounded by the reader.
 */
export function toPlain(value: JsonValue): Plain {
  if (value instanceof JsonNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(toPlain);
  if (!(value instanceof JsonObject)) return value;
  const [twice] = value.repeated;
  if (twice !== undefined) throw new RepeatedMember(twice);
  const plain = Object.create(null) as PlainObject;
  for (const [name, member] of value.members) plain[name] = toPlain(member);
  return plain;
}

/** One text for each value: members in order of their names, numbers by their double. */
export function canonicalText(value: Plain): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  // Beyond the doubles a number is Infinity, for which JSON has no text.
  if (typeof value === 'number') return String(value === 0 ? 0 : value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name]!)}`).join(',')}}`;
}
