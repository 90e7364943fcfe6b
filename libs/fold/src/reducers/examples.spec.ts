import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import type { Op } from '@tidemark/libs-wire';
import * as fc from 'fast-check';
import { readDocument } from '../document-reader.ts';
import { eventReducer } from '../event-reducer.ts';
import { Reducers } from '../reduce.ts';
import { emptyWatermark } from '../watermark.ts';
import type { LoadedReducers } from './compile.ts';
import { loadReducers } from './load-reducers.ts';

const example = (name: string): Promise<LoadedReducers> =>
  loadReducers(resolve(import.meta.dirname, '../../../../docs/examples', name), {
    readText: (file) => readFile(file, 'utf8'),
    importDefault: async (file) => (await import(file)).default,
  });

/** The fields of a document after these ops, and some of them again. */
async function fieldsAfter(loaded: LoadedReducers, kind: string, id: string, ...ops: readonly Partial<Op>[]) {
  const reducers = new Reducers(loaded.reducers);
  const views = new MemoryViews();
  const log = ops.map((fields, at) => ({ seq: BigInt(at + 1), op: anOp({ opId: `o${at}`, ...fields }) }));
  for (const op of [...log.toReversed(), ...log]) {
    const reduced = reducers.reduce(op);
    if (reduced.kind !== 'folded') throw new Error(JSON.stringify(reduced));
    await views.apply('s', 1, reduced.changes);
  }
  await views.saveMark('s', 1, emptyWatermark(), 0, new Map());
  return JSON.parse((await readDocument(views, 's', kind, id)) ?? '{}').fields;
}

describe('docs/examples/shop.ts', () => {
  const product = { domain: 'shop', targetKind: 'product', targetId: 'p' };
  const fields = async (...ops: readonly Partial<Op>[]) =>
    fieldsAfter(await example('shop.ts'), 'product', 'p', ...ops.map((op) => ({ ...product, ...op })));

  it('FLD-1: a rank goes before lamport and site', async () => {
    const set = { field: 'price', opType: 'set', lamport: 9n, value: '10' };
    const fixed = { field: 'price', opType: 'fix', lamport: 1n, value: '8' };
    expect(await fields(set, fixed)).toEqual({ price: 8 });
    expect(await fields(set, fixed, { ...fixed, lamport: 2n, value: '7' })).toEqual({ price: 7 });
  });

  it('FLD-1: a rank that is a value keeps the highest of all', async () => {
    const bid = (amount: number, author: string, lamport: bigint) =>
      ({ opType: 'bid', author, lamport, value: JSON.stringify({ amount, terms: { days: 3 } }) }) as const;
    expect(await fields(bid(5, 'a', 9n), bid(12, 'b', 3n), bid(12, 'c', 2n), bid(-1, 'd', 10n))).toEqual({
      highest_bid: { amount: 12, bidder: 'b', terms: { days: 3 }, agent: null },
    });
  });

  // kills: verbs.ts: String(frame.op.site), String(total.get(frame)), 'higher') => '1', String(total.get(frame)), 'higher')
  it('FLD-1: a counter sums the newest total of each site', async () => {
    const count = (site: bigint, lamport: bigint, value: string) =>
      ({ opType: 'count', field: 'sold', site, lamport, value }) as const;
    expect(await fields(count(1n, 1n, '4'), count(1n, 2n, '6'), count(-2n, 1n, '5'))).toEqual({ sold: 11 });
    expect(await fields(count(1n, 2n, '3'), count(1n, 1n, '6'))).toEqual({ sold: 3 });
  });

  it('FLD-1: a set that only grows holds an element once', async () => {
    const tag = (value: string) => ({ opType: 'tag', value });
    expect(await fields(tag('b'), tag('😀'), tag('\uffee'), tag('b'), tag('a'))).toEqual({
      tags: ['a', 'b', '\uffee', '😀'],
    });
  });

  it('declares an index', async () => {
    expect((await example('shop.ts')).indexes).toEqual([{ kind: 'product', field: 'price' }]);
  });
});

describe('docs/examples/wallet.ts', () => {
  it('FLD-1: counts each payment once in both accounts', async () => {
    const pay = (from: string, to: string, value: string) =>
      ({ domain: 'wallet', targetKind: 'account', opType: 'pay', targetId: from, field: to, value }) as const;
    const ops = [pay('a', 'b', '500'), pay('b', 'a', '120')];
    expect(await fieldsAfter(await example('wallet.ts'), 'account', 'a', ...ops)).toEqual({ balance: -380 });
    expect(await fieldsAfter(await example('wallet.ts'), 'account', 'b', ...ops)).toEqual({ balance: 380 });
  });

  it('FLD-6: refuses what is no payment', async () => {
    const { reducers } = await example('wallet.ts');
    const payment = { domain: 'wallet', targetKind: 'account', opType: 'pay', targetId: 'a', field: 'b', value: '1' };
    for (const wrong of [{ value: '-1' }, { value: null }, { value: '1.5' }, { field: 'a' }])
      expect(new Reducers(reducers).reduce({ seq: 1n, op: anOp({ ...payment, ...wrong }) }).kind).toBe('refused');
    expect(new Reducers(reducers).reduce({ seq: 1n, op: anOp({ ...payment, opType: 'x' }) }).kind).toBe('not_folded');
  });
});

describe('docs/examples/events.json', () => {
  it('FLD-1: answers what the built-in reducer of events answers', async () => {
    const { reducers } = await example('events.json');
    const declared = new Reducers(reducers);
    const builtIn = new Reducers([eventReducer]);
    const event = fc.record({
      domain: fc.constantFrom('event', 'event', 'event', 'task'),
      field: fc.constantFrom('body', 'body', 'title'),
      opType: fc.constantFrom('set', 'set', 'forget'),
      targetKind: fc.constantFrom('events', '', 'x'.repeat(1025)),
      targetId: fc.oneof(fc.string({ unit: 'binary' }), fc.constant('é'.repeat(513))),
      value: fc.oneof(fc.json(), fc.string(), fc.constantFrom(null, '{} {}', '\ufeff1', ' 1 ', '"\\ud800"')),
      lamport: fc.constantFrom(-1n, 2n ** 62n, 2n ** 62n + 1n),
    });
    fc.assert(
      fc.property(event, (fields) => {
        const op = { seq: 3n, op: anOp(fields) };
        const [answer, expected] = [declared.reduce(op), builtIn.reduce(op)];
        // Of two things that are wrong, the one may name this and the other that.
        expect(answer).toEqual(expected.kind === 'refused' ? { ...expected, reason: expect.any(String) } : expected);
      }),
      { numRuns: 500 },
    );
  });
});
