import { compareUtf8, Fault } from '@tidemark/libs-kernel';
import { compactJson } from './json-compact.ts';
import { JsonScanner, OPEN_BRACE } from './json-scanner.ts';
import { isOpField } from './op-fields.ts';

/** A top-level member of an op that is none of ours. */
export interface ExtraMember {
  readonly key: string;
  /** `"key":value` as compact source text. */
  readonly text: string;
}

/**
 * The stored form of what an op carries besides its own fields: one compact JSON object text, keys in UTF-8 order, of a repeated key
 * the last value. Everything keeps its tokens: no number is rounded, no escape rewritten, nothing inside a value reordered.
 */
export function extraText(members: readonly ExtraMember[]): string {
  const ordered = members.every(({ key }, i) => i === 0 || compareUtf8((members[i - 1] as ExtraMember).key, key) < 0);
  return `{${(ordered ? members : sorted(members)).map(({ text }) => text).join(',')}}`;
}

function sorted(members: readonly ExtraMember[]): ExtraMember[] {
  const lastByKey = new Map(members.map((member) => [member.key, member]));
  return [...lastByKey.values()].sort((a, b) => compareUtf8(a.key, b.key));
}

/**
 * The stored extra as members to append to an op's text: `` or `,"key":value...`. A stored text that is no JSON object, or that names
 * one of the op's own fields, is a Fault 'corrupt': a truncated or ambiguous op is never served.
 */
export function extraMembers(extra: string): string {
  if (extra === '{}') return '';
  const shadowed = shadowedField(extra);
  if (shadowed !== undefined) throw corrupt(`holding the field ${shadowed}`);
  const compact = compactJson(extra);
  return compact === '{}' ? '' : `,${compact.slice(1, -1)}`;
}

/** The first of the op's own fields that the object names; Fault 'corrupt' when it is no JSON object. */
function shadowedField(extra: string): string | undefined {
  let shadowed: string | undefined;
  try {
    const scan = new JsonScanner(extra);
    for (let more = scan.enter(OPEN_BRACE); more; more = scan.more(OPEN_BRACE)) {
      const key = scan.key();
      if (isOpField(key)) shadowed ??= key;
      scan.skip();
    }
    scan.end();
  } catch (thrown) {
    throw corrupt('no JSON object', thrown);
  }
  return shadowed;
}

function corrupt(why: string, cause?: unknown): Fault {
  return new Fault('corrupt', `the stored extra (the passthrough of unknown fields) is ${why}`, { cause });
}
