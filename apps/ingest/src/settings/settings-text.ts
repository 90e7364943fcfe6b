import { asFault } from '@tidemark/libs-kernel';
import { JsonObject, type JsonValue, readJson } from '@tidemark/libs-wire';

export type SettingsText =
  { readonly kind: 'read'; readonly document: unknown } | { readonly kind: 'unreadable'; readonly problem: string };

/** A settings file as a document. A member given twice is a problem: of two rules one would be off in silence. */
export function readSettingsText(text: string): SettingsText {
  try {
    const repeated = repeatedIn(readJson(text.replace(/^\uFEFF/, '')), '');
    if (repeated !== null) return { kind: 'unreadable', problem: `${repeated}: is given twice` };
    return { kind: 'read', document: JSON.parse(text.replace(/^\uFEFF/, '')) };
  } catch (thrown) {
    return { kind: 'unreadable', problem: asFault(thrown).message };
  }
}

/** The path to a member that its object has twice. */
function repeatedIn(value: JsonValue, path: string): string | null {
  const object = value instanceof JsonObject ? value : null;
  if (object?.repeated[0] !== undefined) return `${path}.${object.repeated[0]}`.slice(1);
  const children = object?.members ?? (Array.isArray(value) ? value.entries() : []);
  for (const [name, child] of children) {
    const repeated = repeatedIn(child, typeof name === 'number' ? `${path}[${name}]` : `${path}.${name}`);
    if (repeated !== null) return repeated;
  }
  return null;
}
