import { anOp } from '@tidemark/libs-op-store-contract/testing';
import type { Op } from '@tidemark/libs-wire';
import * as fc from 'fast-check';
import { eventReducer } from './event-reducer.ts';
import { type Reducer, Reducers } from './reduce.ts';

function anEvent(fields: Partial<Op> = {}): Op {
  const event = {
    domain: 'event',
    targetKind: 'events',
    targetId: 'e1',
    field: 'body',
    opType: 'set',
    value: '{"a":1}',
  };
  return anOp({ ...event, lamport: 5n, site: 0n, ...fields });
}

function reduceEvent(fields: Partial<Op>, seq = 9n) {
  return new Reducers([eventReducer]).reduce({ seq, op: anEvent(fields) });
}

describe('an event op', () => {
  it('FLD-8: becomes the body of its document, with its place as the last tie-break', () => {
    expect(reduceEvent({ lamport: 5n, site: -3n }, 9n)).toEqual({
      kind: 'folded',
      changes: [
        {
          effect: 'register',
          kind: 'events',
          id: 'e1',
          field: 'body',
          shape: 'register',
          member: '',
          value: '{"a":1}',
          rule: 'higher',
          version: { rank: 0n, lamport: 5n, site: -3n, seq: 9n },
        },
      ],
    });
  });

  it('keeps the text of its value to the byte', () => {
    const value = ' {"n":9007199254740993.10, "n":1}\n';
    expect(reduceEvent({ value })).toMatchObject({ kind: 'folded', changes: [{ value }] });
  });

  it.each([
    ['no value', null],
    ['an empty value', ''],
    ['a value that is cut', '{"a":'],
    ['a value with more behind it', '{} {}'],
    ['a value behind a byte order mark', '\ufeff{}'],
    ['a value with a blank that JSON does not know behind it', '{}\u00a0'],
    ['a lone surrogate', '"\\ud800"'],
    ['a value nested too deep', '['.repeat(600) + ']'.repeat(600)],
  ])('FLD-6: with %s is refused with a reason', (_, value) => {
    expect(reduceEvent({ value })).toEqual({ kind: 'refused', reason: expect.stringMatching(/./) });
  });

  it('FLD-8: what is folded is JSON, whatever the value', () => {
    const text = fc.oneof(
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'{}[]":,0 \n\\u') }),
    );
    fc.assert(
      fc.property(text, (value) => {
        if (reduceEvent({ value }).kind === 'folded') expect(() => JSON.parse(value)).not.toThrow();
      }),
    );
    fc.assert(fc.property(fc.json(), (value) => expect(reduceEvent({ value }).kind).toBe('folded')));
  });

  it.each([
    ['another field', { field: 'title' }],
    ['another kind of op', { opType: 'forget' }],
    ['another domain', { domain: 'task' }],
    ['the default domain', { domain: '' }],
  ])('of %s is not folded', (_, fields) => {
    expect(reduceEvent(fields)).toEqual({ kind: 'not_folded' });
  });
});

describe('the reducers of a worker', () => {
  it('FLD-1: fold a lamport of 2^62 and leave every higher one, in every domain', () => {
    expect(reduceEvent({ lamport: 2n ** 62n }).kind).toBe('folded');
    expect(reduceEvent({ lamport: 2n ** 62n + 1n }).kind).toBe('not_folded');
    expect(reduceEvent({ lamport: 2n ** 63n - 1n }).kind).toBe('not_folded');
    expect(reduceEvent({ lamport: -(2n ** 63n) }).kind).toBe('folded');
  });

  it('FLD-6: take a reducer that throws for a refusal, without the content of its error', () => {
    const breaking: Reducer = {
      domain: 'task',
      revision: 0,
      reduce: ({ op }) => ({ kind: 'refused', reason: String(BigInt(op.value ?? '')) }),
    };
    const reduced = new Reducers([breaking]).reduce({ seq: 1n, op: anOp({ value: 'secret' }) });
    expect(reduced).toEqual({ kind: 'refused', reason: 'the reducer failed: SyntaxError' });
  });

  it('refuse two reducers of one domain', () => {
    expect(() => new Reducers([eventReducer, eventReducer])).toThrow();
  });
});

test('SEC-2: a document whose kind or id no path can name is refused; the longest that one can is folded', () => {
  for (const member of ['targetKind', 'targetId'] as const) {
    expect(reduceEvent({ [member]: 'é'.repeat(512) }).kind).toBe('folded');
    expect(reduceEvent({ [member]: 'é'.repeat(512) + 'x' })).toEqual({
      kind: 'refused',
      reason: 'the name of the document is too long',
    });
  }
});
