import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import type { Op } from '@tidemark/libs-wire';
import * as fc from 'fast-check';
import { Reducers } from '../reduce.ts';
import { anyTaskOp } from '../testing/tasks/arbitrary-op.ts';
import type { Folded } from '../testing/tasks/canonical.ts';
import { exampleReducers, fold, parsed, taskReducers, textsOf } from '../testing/tasks/fold.ts';
import { checkedReducers } from './checked.ts';

/** The catalogue's documented exceptions from "any order": each has one result here. */
describe('ops that a well-behaved log does not hold', () => {
  const op = (seq: bigint, fields: Partial<Op>): SequencedOp => ({ seq, op: anOp({ opId: `o${seq}`, ...fields }) });

  async function eitherOrder(...ops: readonly SequencedOp[]): Promise<Folded> {
    const results = [ops, ops.toReversed()].map(async (order) => {
      const views = new MemoryViews();
      await fold(views, order);
      return textsOf(views);
    });
    const [forwards, backwards] = await Promise.all(results);
    expect(backwards).toEqual(forwards);
    return parsed(forwards!);
  }

  it('FLD-1: of two with one lamport and site the one with the lower seq stays', async () => {
    const folded = await eitherOrder(op(4n, { value: 'x' }), op(3n, { value: 'y', wallClock: 'then' }));
    expect(folded).toEqual({ 'item/ab12.7x3k': { title: 'y', created: 'then', updated: 'then' } });
  });

  // kills: verbs.ts: member, element, 'lower') => member, element, 'higher')
  it('FLD-1: of two adds with one op id the lower version stays, then the lower seq', async () => {
    const add = { targetKind: 'label', opType: 'add', opId: 'one' };
    const labels = (label: string) => ({ ...add, targetId: `a\u001f${label}` });
    expect(await eitherOrder(op(1n, { ...labels('x'), lamport: 2n }), op(2n, { ...labels('y'), lamport: 1n }))).toEqual(
      {
        'item/a': { labels: ['y'] },
      },
    );
    expect(await eitherOrder(op(2n, labels('x')), op(1n, labels('y')))).toEqual({ 'item/a': { labels: ['y'] } });
  });

  it('FLD-1: of two parents with one lamport and site the one with the higher op id is shown', async () => {
    const parent = (to: string) => ({ targetKind: 'edge', opType: 'add', targetId: `a\u001f${to}\u001fparent` });
    expect(
      await eitherOrder(op(1n, { ...parent('y'), opId: '\uffee' }), op(2n, { ...parent('x'), opId: '😀' })),
    ).toEqual({
      'item/a': { parent: 'x' },
    });
  });

  // kills: verbs.ts: merge === 'last' ? 'higher' : 'lower' => 'higher'
  it('FLD-1: a negative lamport is a version like any other, and can be the first', async () => {
    const early = op(2n, { lamport: -5n, site: -1n, wallClock: 'early', value: 'x' });
    const late = op(1n, { lamport: 0n, site: 0n, wallClock: 'late', value: null });
    expect(await eitherOrder(late, early)).toEqual({
      'item/ab12.7x3k': { title: null, created: 'early', updated: 'late' },
    });
  });

  // kills: verbs.ts: merge === 'grow_only' ? element : frame.op.opId => element
  it('FLD-1: an op before the remove that saw it, and behind it, is gone; one that the remove did not see stays', async () => {
    const label = { targetKind: 'label', targetId: 'a\u001fx' };
    const added = [op(1n, { ...label, opType: 'add' }), op(2n, { ...label, opType: 'add' })];
    const removed = op(3n, { ...label, opType: 'remove', value: 'o1' });
    expect(await eitherOrder(...added, removed)).toEqual({ 'item/a': { labels: ['x'] } });
    const both = op(4n, { ...label, opType: 'remove', value: 'o1\u001fo2' });
    expect(await eitherOrder(...added, removed, both)).toEqual({});
  });

  // kills: rank.ts: (a(frame) === b(frame) ? whenEqual : otherwise) => otherwise
  it('FLD-1: nobody takes the id of a message from the op that it was made of', async () => {
    const body = (text: string) =>
      `{"origin":"o","channel_id":"c","kind":"k","priority":"p","disposition":"d","body":"${text}"}`;
    const post = { domain: 'message', targetKind: 'message', targetId: 'm-own', opType: 'post' };
    const own = op(9n, { ...post, opId: 'own', lamport: 50n, value: body('mine') });
    const thief = op(1n, { ...post, opId: 'thief', lamport: 1n, value: body('theirs') });
    expect(await eitherOrder(own, thief)).toMatchObject({ 'message/m-own': { message: { body: 'mine' } } });
  });

  it.each([
    ['a lamport below 1', { lamport: 0n }, 'lamport is below 1'],
    ['a blank author', { author: ' \t' }, 'author is blank'],
    ['no value', { value: null }, 'the value is missing'],
    ['text that is no JSON', { value: 'x' }, expect.stringContaining('json')],
    ['JSON that is no object', { value: '[]' }, 'expected a JSON object'],
    ['a member of another type', { value: '{"origin":1}' }, 'value.origin is no text, or given twice'],
    ['a member given twice', { value: '{"origin":"a","origin":"b"}' }, 'value.origin is no text, or given twice'],
  ])('FLD-6: a message with %s is refused with its reason', (_, fields, reason) => {
    const post = { domain: 'message', targetKind: 'message', opType: 'post', value: '{"origin":"o"}' };
    expect(taskReducers.reduce(op(1n, { ...post, ...fields }))).toEqual({ kind: 'refused', reason });
  });

  it.each([
    [
      'an edge without separators',
      { targetKind: 'edge', opType: 'add', targetId: 'a' },
      'target_id has 1 parts, not 3',
    ],
    [
      'an edge of four parts',
      { targetKind: 'edge', opType: 'add', targetId: 'a\u001fb\u001fdep\u001f' },
      /4 parts, not 3/,
    ],
    [
      'an edge to nothing',
      { targetKind: 'edge', opType: 'add', targetId: 'a\u001f\u001fdep' },
      'target_id has an empty part',
    ],
    [
      'a supersede without payload',
      { targetKind: 'chunk', opType: 'supersede', value: 'o1' },
      'value has 1 parts, not 2',
    ],
    ['a custom field without name', { targetKind: 'field', field: '' }, 'field is blank'],
    [
      'a supersede of 1025 pieces',
      {
        targetKind: 'chunk',
        opType: 'supersede',
        value: `${Array.from({ length: 1025 }, (_, i) => i).join('\u001f')}\u001e`,
      },
      'ids names more than 1024',
    ],
    [
      'a supersede of a piece with a long name',
      { targetKind: 'chunk', opType: 'supersede', value: `${'é'.repeat(65)}\u001e` },
      'ids names one of more than 128 bytes',
    ],
    [
      'a piece above 300 KiB',
      { targetKind: 'chunk', opType: 'append', value: 'é'.repeat(153_601) },
      'value is longer than 307200 bytes',
    ],
    ['an id that no path can name', { targetId: 'x'.repeat(1025) }, 'the name of the document is too long'],
    ['a field that is longer', { targetKind: 'field', field: '😀'.repeat(256) }, 'the name of a field is too long'],
    [
      'an op id that is longer',
      { targetKind: 'label', opType: 'add', targetId: 'a\u001fb', opId: 'x'.repeat(1025) },
      'a tag is empty or too long',
    ],
    [
      'an op id that is empty',
      { targetKind: 'label', opType: 'add', targetId: 'a\u001fb', opId: '' },
      'a tag is empty or too long',
    ],
  ])('FLD-6: %s is refused with its reason', (_, fields, reason) => {
    const expected = reason instanceof RegExp ? expect.stringMatching(reason) : reason;
    expect(taskReducers.reduce(op(1n, fields))).toEqual({ kind: 'refused', reason: expected });
  });

  // kills: reading.ts: typeof given === 'string' ? parseInt64(given) : given => BigInt(Number(given))
  it('FLD-8: an integer keeps its digits, and what is no 64-bit integer is refused', async () => {
    const ordinal = { domain: 'fact', targetKind: 'classification', field: 'ordinal' };
    const views = new MemoryViews();
    await fold(views, [op(1n, { ...ordinal, targetId: 'f', value: '-9223372036854775808' })]);
    expect((await textsOf(views)).at(-1)).toContain('{"ordinal":-9223372036854775808}');
    for (const value of ['1.0', '1e3', '9223372036854775808', ' 1', '', null])
      expect(taskReducers.reduce(op(1n, { ...ordinal, value })).kind).toBe('refused');
  });

  // kills: rule.ts: !after.every( => !before.every(
  it('FLD-6: an edge of a kind that is not declared waits in the log for another revision', () => {
    const edge = { targetKind: 'edge', opType: 'add', targetId: 'a\u001fb\u001fblocks' };
    expect(taskReducers.reduce(op(1n, edge))).toEqual({ kind: 'not_folded' });
  });

  it('FLD-6: whatever an op holds, its cells are such that a store and a reader can hold them', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('a', '\u001f', '\u001e', '', '😀', 'dep', 'parent', '{', '"', '1'), { maxLength: 6 })
        .map((all) => all.join('')),
      fc.constantFrom('x'.repeat(1025), '\0', '__proto__', 'constructor'),
    );
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const anyText = { targetId: text, field: text, opId: text, author: text, wallClock: text };
    const odd = fc.record({ ...anyText, value: fc.option(text), lamport: int64, site: int64 }, { requiredKeys: [] });
    const checked = checkedReducers({ reducers: exampleReducers }, 'tasks.json').reducers;
    fc.assert(
      fc.property(anyTaskOp, odd, int64, (meant, fields, seq) => {
        const given = { seq, op: { ...meant, ...fields } };
        expect(new Reducers(checked).reduce(given)).toEqual(taskReducers.reduce(given));
      }),
      { numRuns: 2000 },
    );
  });
});
