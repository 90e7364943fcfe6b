import type { ViewChange } from '@tidemark/libs-views-contract';
import type { Reduced } from '../reduce.ts';
import { compileReading } from './reading.ts';
import { type Frame, Scope, type Variable, isOpField } from './scope.ts';
import type { Spot } from './spot.ts';
import { type Documents, compileWrite } from './write.ts';
import { WRITTEN_TWICE, writtenTwice } from './written-twice.ts';

interface Condition {
  readonly name: string;
  readonly allowed: ReadonlySet<string>;
}

/** One entry of `ops`. */
export interface Rule {
  readonly spot: Spot;
  readonly when: readonly Condition[];
  /** Of another rule that reads alike, names of `read` mean the same. */
  readonly readsAs: string;
  /** Null: the op is not meant by this rule. What parts the frame has already is of no other rule's concern. */
  readonly reduce: (frame: Frame, seq: bigint) => Reduced | null;
}

export function compileRule(spot: Spot, documents: Documents): Rule {
  const { when, read, writes } = spot.members(['when', 'writes'], ['read']);
  const conditions = when.entries().map(([name, texts]) => ({ name, texts, allowed: new Set(textsOf(texts)) }));
  const scope = new Scope(new Map(conditions.map(({ name, allowed }) => [name, [...allowed]])));
  const before = conditions.filter(({ name }) => isOpField(name)).map((one) => bind(one, scope));
  const reads = (read?.entries() ?? []).map(([name, reading]) => compileReading(name, reading, scope));
  const after = conditions.filter(({ name }) => !isOpField(name)).map((one) => bind(one, scope));
  const effects = writes.filledItems().map((write) => compileWrite(write, scope, documents));
  return {
    spot,
    when: conditions,
    readsAs: JSON.stringify(read?.value),
    reduce(frame, seq) {
      if (!before.every((meant) => meant(frame))) return null;
      for (const fill of reads) {
        const reason = fill(frame);
        if (reason !== null) return { kind: 'refused', reason };
      }
      if (!after.every((meant) => meant(frame))) return null;
      const changes: ViewChange[] = [];
      for (const write of effects) {
        const reason = write(frame, seq, changes);
        if (reason !== null) return { kind: 'refused', reason };
      }
      return writtenTwice(changes) ? { kind: 'refused', reason: WRITTEN_TWICE } : { kind: 'folded', changes };
    },
  };
}

/** Whether no op is meant by both: a text that both look at, and must be another for each. */
export function apart(a: Rule, b: Rule): boolean {
  return a.when.some(({ name, allowed }) => {
    if (!isOpField(name) && a.readsAs !== b.readsAs) return false;
    return b.when.some((other) => other.name === name && [...allowed].every((text) => !other.allowed.has(text)));
  });
}

function textsOf(spot: Spot): readonly string[] {
  return Array.isArray(spot.value) ? spot.filledItems().map((item) => item.text()) : [spot.text()];
}

function bind({ name, texts, allowed }: Condition & { readonly texts: Spot }, scope: Scope): (frame: Frame) => boolean {
  const { type, get }: Variable = scope.find(name, texts);
  if (type !== 'text') texts.fail(`{${name}} is no text`);
  return (frame) => allowed.has(get(frame) as string);
}
