import { compareUtf8, Fault } from '@tidemark/libs-kernel';
import { compactJson } from './json-compact.ts';
import { JsonScanner, OPEN_BRACE } from './json-scanner.ts';
import { OP_FIELDS } from './op-fields.ts';

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
  const compact = extra.startsWith('{') && judge(extra) ? compactJson(extra) : corrupt('no JSON object');
  return compact === '{}' ? '' : `,${compact.slice(1, -1)}`;
}

function judge(extra: string): true {
  try {
    const scan = new JsonScanner(extra);
    for (let more = scan.enter(OPEN_BRACE); more; more = scan.more(OPEN_BRACE)) {
      const key = scan.key();
      if (OP_FIELDS.some(({ name }) => name === key)) corrupt(`holding the field ${key}`);
      scan.skip();
    }
    scan.end();
    return true;
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'corrupt') throw thrown;
    return corrupt('no JSON object');
  }
}

function corrupt(why: string): never {
  throw new Fault('corrupt', `the stored extra (the passthrough of unknown fields) is ${why}`);
}
