import { asFault } from '@tidemark/libs-kernel';
import { JsonNumber, JsonObject, type JsonValue, parseInt64, readJson, writeJson } from '@tidemark/libs-wire';
import type { MemberType } from './declaration.ts';
import type { Read } from './reading.ts';
import type { Part, PartType, Scope, Variable } from './scope.ts';
import type { Spot } from './spot.ts';

interface Member {
  readonly name: string;
  readonly type: PartType;
  readonly optional: boolean;
  readonly slot: number;
}

const TYPES: readonly MemberType[] = ['text', 'integer', 'json', 'text?', 'integer?', 'json?'];

/** A JSON object whose members become `{value.NAME}`. Members that are not declared mean nothing. */
export function readMembers(variable: Variable, options: Spot, scope: Scope): Read {
  const members = options.entries().map(([name, spot]) => declared(variable, name, spot, scope));
  return (frame) => {
    const given = variable.get(frame) as string | null;
    const object = given === null ? null : parsed(given);
    if (!(object instanceof JsonObject)) return object ?? `the ${variable.name} is missing`;
    for (const member of members) {
      const part = read(object, member);
      if (part === undefined) return `${variable.name}.${member.name} is no ${member.type}, or given twice`;
      frame.parts[member.slot] = part;
    }
    return null;
  };
}

function declared(variable: Variable, name: string, spot: Spot, scope: Scope): Member {
  const type = spot.oneOf(TYPES);
  const optional = type.endsWith('?');
  const bare = (optional ? type.slice(0, -1) : type) as PartType;
  const slot = scope.define(`${variable.name}.${name}`, spot, bare, optional);
  return { name, type: bare, optional, slot };
}

/** The object, or what is wrong. */
function parsed(text: string): JsonObject | string {
  try {
    const value = readJson(text);
    return value instanceof JsonObject ? value : 'expected a JSON object';
  } catch (thrown) {
    return asFault(thrown).message;
  }
}

/** Undefined: not what it must be. */
function read(object: JsonObject, { name, type, optional }: Member): Part | undefined {
  if (object.repeated.includes(name)) return undefined;
  const value = object.members.get(name);
  if (value === undefined || value === null) return optional ? null : undefined;
  return typed(value, type);
}

function typed(value: JsonValue, type: PartType): Part | undefined {
  if (type === 'json') return writeJson(value);
  if (type === 'text') return typeof value === 'string' ? value : undefined;
  return value instanceof JsonNumber ? (parseInt64(value.text) ?? undefined) : undefined;
}
