import { Fault } from '@tidemark/libs-kernel';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { loadReducers } from './load-reducers.ts';

const DECLARATION = {
  version: 1,
  domains: {
    shop: {
      revision: 3,
      documents: { product: { name: { merge: 'last', indexed: true } } },
      ops: [{ when: { field: 'name' }, writes: [{ kind: 'product', id: '{target_id}', set: { name: '{value}' } }] }],
    },
  },
};

/** A source that holds one file, as text or as a module. */
const holding = (held: unknown) => ({
  readText: async () => String(held),
  importDefault: async () => held,
});

async function problemOf(file: string, held: unknown): Promise<string> {
  const loaded = loadReducers(file, holding(held));
  const thrown = await loaded.then(
    () => null,
    (fault: unknown) => fault,
  );
  expect(thrown).toBeInstanceOf(Fault);
  expect(thrown).toMatchObject({ code: 'misconfigured' });
  return (thrown as Fault).message;
}

describe('reducers that are loaded from a file', () => {
  it.each([
    ['shop.json', JSON.stringify(DECLARATION)],
    ['shop.ts', DECLARATION],
    ['shop.mjs', DECLARATION],
  ])('are those of the declaration in %s', async (file, held) => {
    const { reducers, indexes } = await loadReducers(file, holding(held));
    expect(reducers.map(({ domain, revision }) => [domain, revision])).toEqual([
      ['event', 0],
      ['shop', 3],
    ]);
    expect(indexes).toEqual([{ kind: 'product', field: 'name' }]);
    expect(reducers[1]?.reduce({ seq: 1n, op: anOp({ field: 'name' }) }).kind).toBe('folded');
  });

  it.each([
    ['text that is no JSON', '{', /^r\.json: \/: invalid json/],
    [
      'a key that stands twice',
      '{"version":1,"domains":{"a":{"revision":0,"revision":1}}}',
      'r.json: /domains/a/revision: given twice',
    ],
    ['a fraction', '{"version":1.5}', 'r.json: /version: expected an integer within ±(2^53 - 1)'],
    [
      'an integer that JavaScript rounds',
      '{"a":[0,9007199254740993]}',
      'r.json: /a/1: expected an integer within ±(2^53 - 1)',
    ],
    ['a key of the language', '{"version":1,"domains":{},"__proto__":{}}', 'r.json: /__proto__: unknown key'],
  ])('are refused with %s', async (_, text, expected) => {
    expect(await problemOf('r.json', text)).toEqual(
      expected instanceof RegExp ? expect.stringMatching(expected) : expected,
    );
  });

  it('are without the built-in reducer of events when they have one themselves, and may fold nothing of a domain any more', async () => {
    const left = { version: 1, domains: { event: { revision: 4, documents: {}, ops: [] } } };
    const { reducers } = await loadReducers('r.ts', holding(left));
    expect(reducers.map(({ domain, revision }) => [domain, revision])).toEqual([['event', 4]]);
    expect(reducers[0]?.reduce({ seq: 1n, op: anOp({ domain: 'event' }) })).toEqual({ kind: 'not_folded' });
  });

  it('are refused when the file cannot be read or the module cannot be run', async () => {
    const fails = () => Promise.reject(new Error('no such file'));
    for (const file of ['r.json', 'r.ts']) {
      const loaded = loadReducers(file, { readText: fails, importDefault: fails });
      await expect(loaded).rejects.toMatchObject({ code: 'misconfigured', message: `${file}: no such file` });
    }
  });

  it.each([
    ['nothing', undefined, 'r.ts: /: expected an object'],
    ['a text', 'x', 'r.ts: /: expected an object'],
    ['no reducer', { reducers: [] }, 'r.ts: /reducers: expected an array that is not empty'],
    ['what is no reducer', { reducers: [1] }, 'r.ts: /reducers/0: expected a reducer'],
    ['a reducer without domain', { reducers: [{}] }, 'r.ts: /reducers/0/domain: expected a string'],
    [
      'a reducer without revision',
      { reducers: [{ domain: 'd' }] },
      'r.ts: /reducers/0/revision: expected an integer within ±(2^53 - 1)',
    ],
    [
      'a reducer that does not reduce',
      { reducers: [{ domain: 'd', revision: 0 }] },
      'r.ts: /reducers/0/reduce: expected a function',
    ],
    [
      'two reducers of a domain',
      { reducers: [aReducer(), aReducer()] },
      'r.ts: /reducers/1: another reducer has this domain',
    ],
    [
      'an index of no field',
      { reducers: [aReducer()], indexes: [{ kind: 'k' }] },
      'r.ts: /indexes/0: field is missing',
    ],
    ['an unknown key', { reducers: [aReducer()], domains: {} }, 'r.ts: /domains: unknown key'],
  ])('are refused when a module exports %s', async (_, exported, expected) => {
    expect(await problemOf('r.ts', exported)).toBe(expected);
  });

  // kills: checked.ts: checked(reducer.reduce(sequenced)) => checked((0, reducer.reduce)(sequenced))
  it('keep `this` of a reducer that is an object of a class', async () => {
    class Counting {
      readonly domain = 'd';
      readonly revision = 0;
      #met = 0;
      reduce() {
        return { kind: 'refused', reason: `met ${++this.#met}` };
      }
    }
    const { reducers } = await loadReducers('r.ts', holding({ reducers: [new Counting()] }));
    expect(reducers[1]?.reduce({ seq: 1n, op: anOp() })).toEqual({ kind: 'refused', reason: 'met 1' });
  });
});

function aReducer() {
  return { domain: 'd', revision: 0, reduce: () => ({ kind: 'not_folded' }) };
}
