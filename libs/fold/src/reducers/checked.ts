import { DOCUMENT_NAME_BYTES_MAX } from '@tidemark/libs-kernel';
import type { FieldShape, ViewChange } from '@tidemark/libs-views-contract';
import { I64_MAX, I64_MIN, parseInt64 } from '@tidemark/libs-wire';
import type { Reduced, Reducer } from '../reduce.ts';
import type { LoadedReducers } from './compile.ts';
import { jsonProblem } from './json-text.ts';
import { Spot } from './spot.ts';
import { WRITTEN_TWICE, writtenTwice } from './written-twice.ts';

/**
 * Reducers in code, as a module exports them. Whatever one answers, a store and its readers are never handed what they cannot hold: such
 * an answer refuses its op.
 */
export function checkedReducers(exported: object, file: string): LoadedReducers {
  const { reducers, indexes } = new Spot(exported, file).members(['reducers'], ['indexes']);
  const checked = reducers.filledItems().map(checkedReducer);
  const twin = checked.findIndex(({ domain }, at) => checked.findIndex((other) => other.domain === domain) < at);
  if (twin >= 0) reducers.items()[twin]?.fail('another reducer has this domain');
  return {
    reducers: checked,
    indexes: (indexes?.items() ?? []).map((spot) => {
      const { kind, field } = spot.members(['kind', 'field']);
      return { kind: kind.filledText(), field: field.filledText() };
    }),
  };
}

function checkedReducer(spot: Spot): Reducer {
  const { value } = spot;
  if (typeof value !== 'object' || value === null) spot.fail('expected a reducer');
  const reducer = value as Reducer;
  const domain = spot.below('domain', reducer.domain).text();
  const revision = spot.below('revision', reducer.revision).integer(0);
  if (typeof reducer.reduce !== 'function') spot.below('reduce', reducer.reduce).fail('expected a function');
  return { domain, revision, reduce: (sequenced) => checked(reducer.reduce(sequenced)) };
}

function checked(reduced: Reduced): Reduced {
  switch (reduced?.kind) {
    case 'not_folded':
      return reduced;
    case 'refused':
      return { kind: 'refused', reason: String(reduced.reason) };
    case 'folded': {
      const problem = reduced.changes.map(changeProblem).find((one) => one !== null);
      if (problem !== undefined) return { kind: 'refused', reason: `the reducer answered ${problem}` };
      return writtenTwice(reduced.changes) ? { kind: 'refused', reason: WRITTEN_TWICE } : reduced;
    }
    default:
      return { kind: 'refused', reason: 'the reducer answered nothing that is known' };
  }
}

const SHAPES: readonly FieldShape[] = ['register', 'set', 'list', 'counter', 'latest'];

function changeProblem(change: ViewChange): string | null {
  const { effect, kind, id, field, shape, member } = change;
  for (const name of [kind, id, field, member]) {
    if (typeof name !== 'string' || !name.isWellFormed()) return 'a name that is no text';
    if (Buffer.byteLength(name) > DOCUMENT_NAME_BYTES_MAX) return 'a name that is too long';
  }
  if (!SHAPES.includes(shape)) return 'an unknown shape';
  if ((shape === 'register') !== (member === '')) return 'a member that does not suit the shape';
  if (effect === 'remove') return isInt64(change.seq) ? null : 'a seq that is no 64-bit bigint';
  if (effect !== 'register') return 'an unknown effect';
  if (change.rule !== 'higher' && change.rule !== 'lower') return 'an unknown rule';
  const { rank, lamport, site, seq } = change.version;
  if (![rank, lamport, site, seq].every(isInt64)) return 'a version that is not of 64-bit bigints';
  if (typeof change.value !== 'string' || jsonProblem(change.value) !== null) return 'a value that is no JSON text';
  return shape === 'counter' && parseInt64(change.value) === null ? 'a count that is no 64-bit integer' : null;
}

const isInt64 = (value: unknown): boolean => typeof value === 'bigint' && value >= I64_MIN && value <= I64_MAX;
