import { DOCUMENT_NAME_BYTES_MAX } from '@tidemark/libs-kernel';
import type { ViewChange } from '@tidemark/libs-views-contract';
import type { Merge } from './declaration.ts';
import type { Names } from './names.ts';
import { compileRank } from './rank.ts';
import type { Frame, Scope } from './scope.ts';
import type { Spot } from './spot.ts';
import { parseTemplate, textOf } from './template.ts';
import { type Target, VERBS, type Verb, compileVerb, suits } from './verbs.ts';

/** The fields of each kind. */
export type Documents = Names<Names<Merge>>;

/** Adds the changes of the op at `seq`; answers why it cannot be folded, without its content. */
export type Write = (frame: Frame, seq: bigint, changes: ViewChange[]) => string | null;

/** One entry of `writes`: what the op does to one document. */
export function compileWrite(spot: Spot, scope: Scope, documents: Documents): Write {
  const members = spot.members(['kind', 'id'], ['rank', ...VERBS]);
  if (VERBS.every((verb) => members[verb] === undefined)) spot.fail(`expected one of ${VERBS.join(', ')}`);
  if (members.rank && !members.set) members.rank.fail('only `set` has a rank');
  const kind = documents.resolve(members.kind, parseTemplate(members.kind, scope));
  const [fields, ...more] = kind.meanings;
  if (fields === undefined || more.length > 0) return members.kind.fail('leads to more than one kind');
  const id = textOf(members.id, parseTemplate(members.id, scope));
  const rank = members.rank ? compileRank(members.rank, scope) : () => 0n;
  const writes = VERBS.flatMap((verb) => {
    return (members[verb]?.entries() ?? []).map(([name, value]) => compileField(verb, name, value, scope, fields));
  });
  return (frame, seq, changes) => {
    const target = { kind: kind.name(frame), id: id(frame), rank: rank(frame), seq };
    if (tooLong(target.kind) || tooLong(target.id)) return 'the name of the document is too long';
    for (const write of writes) {
      const problem = write(frame, target, changes);
      if (problem !== null) return problem;
    }
    return null;
  };
}

type FieldWrite = (frame: Frame, target: Target, changes: ViewChange[]) => string | null;

function compileField(verb: Verb, name: string, spot: Spot, scope: Scope, fields: Names<Merge>): FieldWrite {
  const field = fields.resolve(spot, parseTemplate(spot, scope, name));
  const misfit = field.meanings.find((merge) => !suits(verb, merge));
  if (misfit) spot.fail(`\`${verb}\` means nothing to a field that is merged as ${misfit}`);
  const cells = compileVerb(verb, spot, scope);
  return (frame, target, changes) => {
    const named = field.name(frame);
    if (tooLong(named)) return 'the name of a field is too long';
    for (const change of cells(frame, target, named, field.meaning(named))) {
      if (change.shape !== 'register' && (change.member === '' || tooLong(change.member)))
        return 'a tag is empty or too long';
      changes.push(change);
    }
    return null;
  };
}

/** Of names that no path or key could hold. */
function tooLong(name: string): boolean {
  // A code unit takes three bytes at most, so most names need no counting.
  return name.length * 3 > DOCUMENT_NAME_BYTES_MAX && Buffer.byteLength(name) > DOCUMENT_NAME_BYTES_MAX;
}
