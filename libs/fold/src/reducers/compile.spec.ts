import { Fault } from '@tidemark/libs-kernel';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { compileDeclaration } from './compile.ts';

/** One op of one domain that is right, with another part in some places: by JSON pointer; undefined leaves the key out. */
function declarationWith(changes: Readonly<Record<string, unknown>>): unknown {
  const declaration = {
    version: 1,
    domains: {
      shop: {
        revision: 0,
        documents: {
          product: { name: 'last', price: 'last', sold: 'counter', tags: 'grow_only', labels: 'set', 'own.*': 'last' },
          'kind/~': { x: 'first' },
        },
        ops: [
          {
            when: { target_kind: 'product', op_type: 'set', field: ['name', 'price'] },
            read: { value: 'text' },
            writes: [{ kind: 'product', id: '{target_id}', set: { '{field}': '{value}' } }],
          },
          {
            when: { target_kind: 'product', op_type: 'other' },
            writes: [{ kind: 'product', id: '{target_id}', set: { name: '{value}' } }],
          },
        ],
      },
    },
  };
  for (const [pointer, value] of Object.entries(changes)) put(declaration, pointer, value);
  return declaration;
}

function put(root: object, pointer: string, value: unknown): void {
  const steps = pointer.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = steps.pop()!;
  let at = root as Record<string, unknown>;
  for (const step of steps) at = at[step] as Record<string, unknown>;
  if (value === undefined) delete at[last];
  else at[last] = value;
}

function problemOf(declaration: unknown): string {
  try {
    compileDeclaration(declaration, 'shop.json');
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'misconfigured') return thrown.message;
    throw thrown;
  }
  return 'none';
}

const OP = 'domains/shop/ops/0';
const WRITE = `${OP}/writes/0`;
const DOCUMENTS = 'domains/shop/documents';
const problem = (changes: Readonly<Record<string, unknown>>) => problemOf(declarationWith(changes));

describe('a declaration', () => {
  it('that is right is compiled', () => {
    expect(problem({})).toBe('none');
  });

  it.each([
    ['no object', [], '/: expected an object'],
    ['null', null, '/: expected an object'],
    ['empty', {}, '/: version is missing'],
    ['of another version', { version: 2, domains: {} }, '/version: expected 1, the version of this format'],
    ['without domains', { version: 1 }, '/: domains is missing'],
    [
      'of two domains that share a kind',
      twoDomains('k', 'k'),
      '/domains/a/documents/k: domain b declares documents of this kind too',
    ],
    [
      'of two domains whose kinds meet',
      twoDomains('k.x', 'k.*'),
      '/domains/a/documents/k.x: domain b declares documents of this kind too',
    ],
  ])('that is %s is refused by file and place', (_, declaration, expected) => {
    expect(problemOf(declaration)).toBe(`shop.json: ${expected}`);
  });

  it.each([
    ['an unknown key at the top', { extra: 1 }, '/extra: unknown key'],
    ['an unknown key of a domain', { 'domains/shop/extra': 1 }, '/domains/shop/extra: unknown key'],
    ['an unknown key of an op', { [`${OP}/extra`]: 1 }, `/${OP}/extra: unknown key`],
    ['an unknown key of a write', { [`${WRITE}/extra`]: 1 }, `/${WRITE}/extra: unknown key`],
    ['no revision', { 'domains/shop/revision': undefined }, '/domains/shop: revision is missing'],
    [
      'a revision below 0',
      { 'domains/shop/revision': -1 },
      '/domains/shop/revision: expected an integer of at least 0',
    ],
    [
      'a revision that is no integer',
      { 'domains/shop/revision': 1.5 },
      '/domains/shop/revision: expected an integer within ±(2^53 - 1)',
    ],
    ['no ops', { 'domains/shop/ops': {} }, '/domains/shop/ops: expected an array'],
    [
      'an unknown merge',
      { [`${DOCUMENTS}/product/name`]: 'max' },
      `/${DOCUMENTS}/product/name: expected one of last, first, set, grow_only, list, latest, counter`,
    ],
    [
      'a place that is escaped',
      { [`${DOCUMENTS}/kind~1~0/x`]: 'max' },
      `/${DOCUMENTS}/kind~1~0/x: expected one of last, first, set, grow_only, list, latest, counter`,
    ],
    [
      'an index that is not true',
      { [`${DOCUMENTS}/product/name`]: { merge: 'last', indexed: false } },
      `/${DOCUMENTS}/product/name/indexed: expected true`,
    ],
    [
      'an index of many fields',
      { [`${DOCUMENTS}/product/own.*`]: { merge: 'last', indexed: true } },
      `/${DOCUMENTS}/product/own.*/indexed: an index is of one field of one kind`,
    ],
    [
      'an index of what no cell tells',
      { [`${DOCUMENTS}/product/sold`]: { merge: 'counter', indexed: true } },
      `/${DOCUMENTS}/product/sold/merge: expected one of last, first, set, grow_only`,
    ],
    [
      'a field under a beginning',
      { [`${DOCUMENTS}/product/own.x`]: 'last' },
      `/${DOCUMENTS}/product/own.*: own.x stands for the same names`,
    ],
    [
      'two beginnings that meet',
      { [`${DOCUMENTS}/product/own.x*`]: 'last' },
      `/${DOCUMENTS}/product/own.*: own.x* stands for the same names`,
    ],
    ['a condition on an unknown name', { [`${OP}/when/colour`]: 'x' }, `/${OP}/when/colour: no {colour} is known here`],
    ['a condition on an integer', { [`${OP}/when/lamport`]: '1' }, `/${OP}/when/lamport: {lamport} is no text`],
    ['a condition that is no text', { [`${OP}/when/field`]: 1 }, `/${OP}/when/field: expected a string`],
    [
      'a condition that nothing meets',
      { [`${OP}/when/field`]: [] },
      `/${OP}/when/field: expected an array that is not empty`,
    ],
    [
      'an unknown reading',
      { [`${OP}/read/value`]: 'number' },
      `/${OP}/read/value: expected one of text, integer, json`,
    ],
    ['an unknown form of reading', { [`${OP}/read/value`]: { number: {} } }, `/${OP}/read/value/number: unknown key`],
    [
      'two forms of reading',
      { [`${OP}/read/value`]: { text: {}, json: {} } },
      `/${OP}/read/value: expected one of text, integer, json, list, split`,
    ],
    [
      'a reading of an unknown name',
      { [`${OP}/read/colour`]: 'text' },
      `/${OP}/read/colour: no {colour} is known here`,
    ],
    [
      'a reading of what is no text',
      { [`${OP}/read/lamport`]: { text: {} } },
      `/${OP}/read/lamport: {lamport} is no text here`,
    ],
    [
      'a lamport that is read as a text',
      { [`${OP}/read/lamport`]: 'text' },
      `/${OP}/read/lamport: {lamport} is no text here`,
    ],
    [
      'a split by nothing',
      { [`${OP}/read/value`]: { split: { by: '', into: ['a'] } } },
      `/${OP}/read/value/split/by: expected a string that is not empty`,
    ],
    [
      'a part that is known already',
      { [`${OP}/read/value`]: { split: { by: '-', into: ['a', 'a'] } } },
      `/${OP}/read/value/split/into/1: {a} is known already`,
    ],
    [
      'a part named as a field of the op',
      { [`${OP}/read/value`]: { split: { by: '-', into: ['site'] } } },
      `/${OP}/read/value/split/into/0: {site} is known already`,
    ],
    [
      'a member of an unknown type',
      { [`${OP}/read/value`]: { json: { a: 'number' } } },
      `/${OP}/read/value/json/a: expected one of text, integer, json, text?, integer?, json?`,
    ],
    ['an unknown name', { [`${WRITE}/id`]: 'p-{colour}' }, `/${WRITE}/id: no {colour} is known here`],
    [
      'a brace that is not closed',
      { [`${WRITE}/id`]: 'p-{target_id' },
      `/${WRITE}/id: a brace that belongs to no {name}`,
    ],
    [
      'an id that may be null',
      { [`${OP}/read`]: undefined, [`${WRITE}/id`]: '{value}' },
      `/${WRITE}/id: {value} may be null here: let \`read\` ask for a text`,
    ],
    [
      'an id that is JSON',
      { [`${OP}/read/value`]: 'json', [`${WRITE}/id`]: '{value}' },
      `/${WRITE}/id: {value} is a json here, no text`,
    ],
    [
      'a value that is a list',
      { [`${OP}/read/value`]: { list: { by: ',' } } },
      `/${WRITE}/set/{field}: {value} is a list here, no value`,
    ],
    [
      'a value that is an array',
      { [`${WRITE}/set/{field}`]: [] },
      `/${WRITE}/set/{field}: expected an integer within ±(2^53 - 1)`,
    ],
    [
      'a value in a value that is wrong',
      { [`${WRITE}/set/{field}`]: { a: { b: '{c}' } } },
      `/${WRITE}/set/{field}/a/b: no {c} is known here`,
    ],
    [
      'a kind that is not declared',
      { [`${WRITE}/kind`]: 'order' },
      `/${WRITE}/kind: order is not declared in documents`,
    ],
    ['a kind that can be any', { [`${WRITE}/kind`]: '{target_id}' }, `/${WRITE}/kind: * is not declared in documents`],
    [
      'a kind of two',
      { [`${OP}/when/target_kind`]: ['product', 'kind/~'], [`${WRITE}/kind`]: '{target_kind}' },
      `/${WRITE}/kind: leads to more than one kind`,
    ],
    [
      'a field that is not declared',
      { [`${OP}/when/field`]: ['name', 'colour'] },
      `/${WRITE}/set/{field}: colour is not declared in documents`,
    ],
    [
      'a field that can be any',
      { [`${OP}/when/field`]: undefined },
      `/${WRITE}/set/{field}: * is not declared in documents`,
    ],
    [
      'a field beyond a beginning',
      { [`${WRITE}/set`]: { 'ow{op_id}': 1 } },
      `/${WRITE}/set/ow{op_id}: ow* is not declared in documents`,
    ],
    ['a write of nothing', { [`${WRITE}/set`]: undefined }, `/${WRITE}: expected one of set, add, remove, count`],
    [
      'a verb that does not suit',
      { [`${WRITE}/set`]: undefined, [`${WRITE}/add`]: { '{field}': 'x' } },
      `/${WRITE}/add/{field}: \`add\` means nothing to a field that is merged as last`,
    ],
    [
      'a remove from what only grows',
      { [`${WRITE}/remove`]: { tags: 'x' } },
      `/${WRITE}/remove/tags: \`remove\` means nothing to a field that is merged as grow_only`,
    ],
    [
      'a count that is a text',
      { [`${WRITE}/count`]: { sold: '{value}' } },
      `/${WRITE}/count/sold: expected one name, which \`read\` makes an integer`,
    ],
    [
      'a count that may be null',
      {
        [`${OP}/read/value`]: { json: { n: 'integer?' } },
        [`${WRITE}/set`]: undefined,
        [`${WRITE}/count`]: { sold: '{value.n}' },
      },
      `/${WRITE}/count/sold: {value.n} may be null here`,
    ],
    [
      'a rank without set',
      { [`${WRITE}/set`]: undefined, [`${WRITE}/add`]: { tags: 'x' }, [`${WRITE}/rank`]: 1 },
      `/${WRITE}/rank: only \`set\` has a rank`,
    ],
    [
      'a rank that is a text',
      { [`${WRITE}/rank`]: '{value}' },
      `/${WRITE}/rank: expected one name, which \`read\` makes an integer`,
    ],
    [
      'a rank that may be null',
      {
        [`${OP}/read/value`]: { json: { n: 'integer?' } },
        [`${WRITE}/set`]: { name: 1 },
        [`${WRITE}/rank`]: '{value.n}',
      },
      `/${WRITE}/rank: {value.n} may be null here`,
    ],
    [
      'a rank of three texts',
      { [`${WRITE}/rank`]: { equal: ['a', 'b', 'c'], then: 0, else: 1 } },
      `/${WRITE}/rank/equal: expected two texts`,
    ],
    [
      'two ops that take the same',
      { 'domains/shop/ops/1/when/op_type': ['set', 'other'] },
      '/domains/shop/ops/1: takes ops that ops/0 takes too',
    ],
  ])('with %s is refused by file and place', (_, changes, expected) => {
    expect(problem(changes)).toBe(`shop.json: ${expected}`);
  });

  // kills: rule.ts: a.readsAs !== b.readsAs => false
  it('FLD-1: may tell ops apart by what is read, when it is read alike', () => {
    const read = { target_id: { split: { by: '/', into: ['id', 'side'] } } };
    const op = (side: string, reading: object = read) => ({
      when: { target_kind: 'product', op_type: 'set', side },
      read: reading,
      writes: [{ kind: 'product', id: '{id}', set: { name: side } }],
    });
    const ops = (...all: readonly unknown[]) => problem({ 'domains/shop/ops': all });
    expect(ops(op('left'), op('right'))).toBe('none');
    expect(ops(op('left'), op('left'))).toBe('shop.json: /domains/shop/ops/1: takes ops that ops/0 takes too');
    const other = { target_id: { split: { by: '-', into: ['id', 'side'] } } };
    expect(ops(op('left'), op('right', other))).toBe('shop.json: /domains/shop/ops/1: takes ops that ops/0 takes too');
  });
});

// kills: rule.ts: writtenTwice(changes) ? => false ?
test('FLD-1: an op that would write one cell twice is refused: both writes have one version, and neither could win', () => {
  const write = (id: string, value: string) => ({ kind: 'product', id, add: { labels: value } });
  const op = {
    when: {},
    read: { target_id: { split: { by: '/', into: ['from', 'to'] } } },
    writes: [write('{from}', '{to}'), write('{to}', '{from}')],
  };
  const declaration = declarationWith({ 'domains/shop/ops': [op] });
  const { reducers } = compileDeclaration(declaration, 'shop.json');
  const linking = (targetId: string) => reducers[0]?.reduce({ seq: 1n, op: anOp({ targetId }) });
  expect(linking('a/b')).toMatchObject({ kind: 'folded', changes: [{ id: 'a' }, { id: 'b' }] });
  expect(linking('a/a')).toEqual({ kind: 'refused', reason: 'one cell is written twice' });
});

function twoDomains(kindOfA: string, kindOfB: string) {
  const domain = (kind: string) => ({
    revision: 0,
    documents: { [kind]: { x: 'last' } },
    ops: [{ when: {}, writes: [{ kind: kind.replace('*', 'x'), id: 'i', set: { x: 1 } }] }],
  });
  return { version: 1, domains: { a: domain(kindOfA), b: domain(kindOfB) } };
}
