import { asFault } from '@tidemark/libs-kernel';
import { JsonObject, type JsonValue, readJson } from '@tidemark/libs-wire';

export type SettingsText =
  { readonly kind: 'read'; readonly document: unknown } | { readonly kind: 'unreadable'; readonly problem: string };

/** A settings file as a document. Members that its readers would pass over are a problem: their rules would be off in silence. */
export function readSettingsText(text: string): SettingsText {
  const unmarked = text.replace(/^\uFEFF/, '');
  try {
    const problem = problemIn(readJson(unmarked), '');
    return problem === null ? { kind: 'read', document: JSON.parse(unmarked) } : { kind: 'unreadable', problem };
  } catch (thrown) {
    return { kind: 'unreadable', problem: asFault(thrown).message };
  }
}

/** The first member that its object has twice, or that no rule can be set for, with its path. */
function problemIn(value: JsonValue, path: string): string | null {
  if (value instanceof JsonObject) {
    const of = (name: string) => `${path}.${name}`.slice(1);
    if (value.repeated[0] !== undefined) return `${of(value.repeated[0])}: is given twice`;
    if (value.members.has('__proto__')) return `${of('__proto__')}: no rule can have this name`;
  }
  const children = value instanceof JsonObject ? value.members : Array.isArray(value) ? value.entries() : [];
  for (const [name, child] of children) {
    const problem = problemIn(child, typeof name === 'number' ? `${path}[${name}]` : `${path}.${name}`);
    if (problem !== null) return problem;
  }
  return null;
}
