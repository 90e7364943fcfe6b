import type { FieldShape, RegisterChange, ViewChange } from '@tidemark/libs-views-contract';
import type { Merge } from './declaration.ts';
import type { Frame, Scope } from './scope.ts';
import type { Spot } from './spot.ts';
import { loneVariable, parseTemplate, textOf, valueOf } from './template.ts';

/** The document that is written, by the op at `seq`. */
export interface Target {
  readonly kind: string;
  readonly id: string;
  readonly rank: bigint;
  readonly seq: bigint;
}

export const VERBS = ['set', 'add', 'remove', 'count'] as const;
export type Verb = (typeof VERBS)[number];

/** The cells of one field that one op writes. */
export type Cells = (frame: Frame, target: Target, field: string, merge: Merge) => readonly ViewChange[];

export const SHAPES: Readonly<Record<Merge, FieldShape>> = {
  last: 'register',
  first: 'register',
  set: 'set',
  grow_only: 'set',
  list: 'list',
  latest: 'latest',
  counter: 'counter',
};

export const MERGES = Object.keys(SHAPES) as readonly Merge[];

const MERGES_OF: Readonly<Record<Verb, readonly Merge[]>> = {
  set: ['last', 'first'],
  add: ['set', 'grow_only', 'list', 'latest'],
  remove: ['set', 'list', 'latest'],
  count: ['counter'],
};

export const suits = (verb: Verb, merge: Merge): boolean => MERGES_OF[verb].includes(merge);

export function compileVerb(verb: Verb, spot: Spot, scope: Scope): Cells {
  if (verb === 'remove') return remove(spot, scope);
  if (verb === 'count') return count(spot, scope);
  return verb === 'set' ? set(spot, scope) : add(spot, scope);
}

/** The register of the field, with all that its value holds at once. */
function set(spot: Spot, scope: Scope): Cells {
  const value = valueOf(spot, scope);
  return (frame, target, field, merge) => {
    const rule = merge === 'last' ? 'higher' : 'lower';
    return [cell(frame, target, field, merge, '', value(frame), rule, target.rank)];
  };
}

/**
 * One cell per add, by the op's id, so that a remove takes away what it saw and no later add. What is never taken away needs no tag: there
 * the element itself names the cell, and any number of adds of it are one.
 */
function add(spot: Spot, scope: Scope): Cells {
  const value = valueOf(spot, scope);
  return (frame, target, field, merge) => {
    const element = value(frame);
    const member = merge === 'grow_only' ? element : frame.op.opId;
    return [cell(frame, target, field, merge, member, element, 'lower')];
  };
}

function remove(spot: Spot, scope: Scope): Cells {
  const pieces = parseTemplate(spot, scope);
  const lone = loneVariable(pieces);
  const text = lone?.type === 'list' ? null : textOf(spot, pieces);
  return (frame, { kind, id, seq }, field, merge) => {
    const tags = text === null ? (lone?.get(frame) as readonly string[]) : [text(frame)];
    return tags.map((member) => ({ effect: 'remove', kind, id, field, shape: SHAPES[merge], member, seq }));
  };
}

/** The newest total of each site; a total can be written twice, where a step could not. */
function count(spot: Spot, scope: Scope): Cells {
  const total = loneVariable(parseTemplate(spot, scope));
  if (total?.type !== 'integer') spot.fail('expected one name, which `read` makes an integer');
  if (total.nullable) spot.fail(`{${total.name}} may be null here`);
  return (frame, target, field, merge) => {
    return [cell(frame, target, field, merge, String(frame.op.site), String(total.get(frame)), 'higher')];
  };
}

function cell(
  { op: { lamport, site } }: Frame,
  { kind, id, seq }: Target,
  field: string,
  merge: Merge,
  member: string,
  value: string,
  rule: 'higher' | 'lower',
  rank = 0n,
): RegisterChange {
  const version = { rank, lamport, site, seq };
  return { effect: 'register', kind, id, field, shape: SHAPES[merge], member, value, rule, version };
}
