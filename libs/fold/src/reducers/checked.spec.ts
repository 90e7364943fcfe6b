import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { checkedReducers } from './checked.ts';

const CELL = {
  effect: 'register',
  kind: 'k',
  id: 'i',
  field: 'f',
  shape: 'register',
  member: '',
  value: '{"a":1}',
  rule: 'higher',
  version: { rank: 0n, lamport: 1n, site: 2n, seq: 3n },
};

const OTHER = { ...CELL, id: 'other' };

function answerOf(reduced: unknown) {
  const { reducers } = checkedReducers({ reducers: [{ domain: 'd', revision: 0, reduce: () => reduced }] }, 'r.ts');
  return reducers[0]!.reduce({ seq: 3n, op: anOp() });
}

const folding = (cell: object) => answerOf({ kind: 'folded', changes: [OTHER, { ...CELL, ...cell }] });

describe('what a reducer in code answers', () => {
  it.each([
    ['a register', {}],
    ['a member', { shape: 'set', member: 'tag' }],
    ['a count', { shape: 'counter', member: '-1', value: '-9223372036854775808' }],
    ['a remove', { effect: 'remove', shape: 'list', member: 'tag', seq: 3n, value: undefined, version: undefined }],
    ['the longest name', { id: 'é'.repeat(512) }],
  ])('is taken as it is: %s', (_, cell) => {
    expect(folding(cell)).toEqual({ kind: 'folded', changes: [OTHER, { ...CELL, ...cell }] });
  });

  it.each([
    ['no text for a name', { id: 7 }, 'a name that is no text'],
    ['a name with half a character', { id: '\ud800' }, 'a name that is no text'],
    ['a name that no path can hold', { kind: 'é'.repeat(513) }, 'a name that is too long'],
    ['an unknown shape', { shape: 'map', member: 'm' }, 'an unknown shape'],
    ['a register of several members', { member: 'm' }, 'a member that does not suit the shape'],
    ['a set of one nameless member', { shape: 'set' }, 'a member that does not suit the shape'],
    ['an unknown effect', { effect: 'delete' }, 'an unknown effect'],
    ['a remove without seq', { effect: 'remove' }, 'a seq that is no 64-bit bigint'],
    ['an unknown rule', { rule: 'newest' }, 'an unknown rule'],
    ['a version of numbers', { version: { ...CELL.version, lamport: 1 } }, 'a version that is not of 64-bit bigints'],
    [
      'a version beyond 64 bits',
      { version: { ...CELL.version, rank: 2n ** 63n } },
      'a version that is not of 64-bit bigints',
    ],
    ['a value that is no text', { value: { a: 1 } }, 'a value that is no JSON text'],
    ['a value that is no JSON', { value: '{"a":1' }, 'a value that is no JSON text'],
    ['a value with more behind it', { value: '1 2' }, 'a value that is no JSON text'],
    [
      'a count that is a fraction',
      { shape: 'counter', member: '1', value: '1.5' },
      'a count that is no 64-bit integer',
    ],
  ])('FLD-6: refuses its op when it has %s', (_, cell, problem) => {
    expect(folding(cell)).toEqual({ kind: 'refused', reason: `the reducer answered ${problem}` });
  });

  it('FLD-1: refuses its op when it writes one cell twice', () => {
    const other = { ...CELL, id: '1i', kind: 'k' };
    expect(answerOf({ kind: 'folded', changes: [CELL, other] }).kind).toBe('folded');
    expect(answerOf({ kind: 'folded', changes: [CELL, other, { ...CELL, value: '2' }] })).toEqual({
      kind: 'refused',
      reason: 'one cell is written twice',
    });
  });

  it.each([[undefined], [null], [{}], [{ kind: 'done' }]])('FLD-6: refuses its op when it is %p', (reduced) => {
    expect(answerOf(reduced)).toEqual({ kind: 'refused', reason: 'the reducer answered nothing that is known' });
  });
});
