import { asFault } from '@tidemark/libs-kernel';
import { JsonNumber, JsonObject, type JsonValue, readJson } from '@tidemark/libs-wire';
import { Spot } from './spot.ts';

/** The value of a declaration's text, in which no key stands twice and every number is an integer that JavaScript can tell from its neighbours. */
export function readDeclaration(text: string, file: string): unknown {
  return plain(parsed(text, file), new Spot(null, file));
}

function parsed(text: string, file: string): JsonValue {
  try {
    return readJson(text);
  } catch (thrown) {
    return new Spot(null, file).fail(asFault(thrown).message);
  }
}

function plain(value: JsonValue, spot: Spot): unknown {
  if (value instanceof JsonNumber) return integer(value, spot);
  if (Array.isArray(value)) return value.map((item, at) => plain(item, spot.below(String(at), null)));
  if (!(value instanceof JsonObject)) return value;
  for (const key of value.repeated) spot.below(key, null).fail('given twice');
  return Object.fromEntries([...value.members].map(([key, member]) => [key, plain(member, spot.below(key, null))]));
}

function integer({ text }: JsonNumber, spot: Spot): number {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : spot.fail('expected an integer within ±(2^53 - 1)');
}
