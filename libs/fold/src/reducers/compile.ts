import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import type { Reduced, Reducer } from '../reduce.ts';
import type { Merge } from './declaration.ts';
import { Names, overlap } from './names.ts';
import { type Rule, apart, compileRule } from './rule.ts';
import { Spot } from './spot.ts';
import { MERGES } from './verbs.ts';
import type { Documents } from './write.ts';

/** A field by which documents of a kind are looked for; a store may keep an index of it. */
export interface IndexedField {
  readonly kind: string;
  readonly field: string;
}

export interface LoadedReducers {
  readonly reducers: readonly Reducer[];
  readonly indexes: readonly IndexedField[];
}

/** Reducers of a declaration; a Fault `misconfigured` names the file and the JSON pointer of the first thing that is wrong in it. */
export function compileDeclaration(declaration: unknown, file: string): LoadedReducers {
  const { version, domains } = new Spot(declaration, file).members(['version', 'domains']);
  if (version.value !== 1) version.fail('expected 1, the version of this format');
  const compiled = domains.entries().map(([domain, spot]) => compileDomain(domain, spot));
  const kinds = compiled.flatMap((one) => one.kinds.map((kind) => ({ ...kind, domain: one.reducer.domain })));
  for (const { kind, spot, domain } of kinds) {
    const clash = kinds.find((other) => other.domain !== domain && overlap(kind, other.kind));
    if (clash) spot.fail(`domain ${clash.domain} declares documents of this kind too`);
  }
  return {
    reducers: compiled.map(({ reducer }) => reducer),
    indexes: compiled.flatMap(({ indexes }) => indexes),
  };
}

interface CompiledDomain {
  readonly reducer: Reducer;
  readonly kinds: readonly { readonly kind: string; readonly spot: Spot }[];
  readonly indexes: readonly IndexedField[];
}

function compileDomain(domain: string, spot: Spot): CompiledDomain {
  const { revision, documents, ops } = spot.members(['revision', 'documents', 'ops']);
  const indexes: IndexedField[] = [];
  const kinds = documents.entries();
  const declared: Documents = new Names(kinds.map(([kind, fields]) => [kind, fields, fieldsOf(kind, fields, indexes)]));
  const rules = ops.items().map((op) => compileRule(op, declared));
  for (const [at, rule] of rules.entries()) {
    const twin = rules.findIndex((other, place) => place < at && !apart(rule, other));
    if (twin >= 0) rule.spot.fail(`takes ops that ops/${twin} takes too`);
  }
  return {
    reducer: { domain, revision: revision.integer(0), reduce: dispatch(rules) },
    kinds: kinds.map(([kind, place]) => ({ kind, spot: place })),
    indexes,
  };
}

function fieldsOf(kind: string, spot: Spot, indexes: IndexedField[]): Names<Merge> {
  return new Names(
    spot.entries().map(([field, place]) => {
      if (!place.isObject()) return [field, place, place.oneOf(MERGES)];
      const { merge, indexed } = place.members(['merge', 'indexed']);
      if (indexed.isTrue() && (kind + field).includes('*')) indexed.fail('an index is of one field of one kind');
      indexes.push({ kind, field });
      return [field, place, merge.oneOf(INDEXABLE)];
    }),
  );
}

/** Those whose values can be told from one cell alone. */
const INDEXABLE: readonly Merge[] = ['last', 'first', 'set', 'grow_only'];

function dispatch(rules: readonly Rule[]): (sequenced: SequencedOp) => Reduced {
  return ({ seq, op }) => {
    const frame = { op, parts: [] };
    let answer: Reduced | null = null;
    for (const rule of rules) {
      const reduced = rule.reduce(frame, seq);
      if (reduced?.kind === 'folded') return reduced;
      answer ??= reduced;
    }
    return answer ?? { kind: 'not_folded' };
  };
}
