import { deepEqual, equal } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { FieldShape, Views } from '../views.ts';
import {
  EPOCH,
  STREAM,
  type ViewsHarness,
  add,
  change,
  inSteps,
  permutations,
  remove,
  show,
  valueOf,
  version,
} from './harness.ts';

/** Fields of many members: adds, removes, and what is there when both came, in whatever order. */
export const memberCases: readonly ConformanceCase<ViewsHarness>[] = [
  {
    title: 'FLD-1: every member of a field is a cell of its own',
    kills: 'oneVersionPerField',
    async run({ open }) {
      const views = await open();
      await show(views);
      const newer = add('b', { version: version({ lamport: 5n }) });
      await views.apply(STREAM, EPOCH, [add('a', { version: version({ lamport: 9n }) }), newer, add('c')]);
      deepEqual(await members(views), ['a', 'b', 'c']);
    },
  },
  {
    title: 'FLD-1: a removed member is gone',
    kills: 'ignoresRemoves',
    alsoFails: ['removesTheField'],
    async run({ open }) {
      const views = await open();
      await show(views);
      await views.apply(STREAM, EPOCH, [add('a'), add('b')]);
      await views.apply(STREAM, EPOCH, [remove('a')]);
      deepEqual(await members(views), ['b']);
    },
  },
  {
    title: 'FLD-1: a remove that comes before its add is remembered',
    kills: 'forgetsEarlyRemoves',
    alsoFails: ['ignoresRemoves'],
    async run({ open }) {
      const views = await open();
      await show(views);
      await views.apply(STREAM, EPOCH, [remove('a')]);
      await views.apply(STREAM, EPOCH, [add('a'), add('b')]);
      deepEqual(await members(views), ['b']);
    },
  },
  {
    title: 'FLD-1: an add that is repeated after its remove does not come back, whatever its version',
    kills: 'revivesRemoved',
    alsoFails: ['ignoresRemoves', 'removesTheField'],
    async run({ open }) {
      const views = await open();
      await show(views);
      await views.apply(STREAM, EPOCH, [add('b'), add('a'), remove('a'), add('a')]);
      const higher = add('a', { rule: 'higher', version: version({ lamport: 99n }) });
      const lower = add('a', { version: version({ lamport: -99n }) });
      await views.apply(STREAM, EPOCH, [higher, lower]);
      deepEqual(await members(views), ['b']);
    },
  },
  {
    title: 'FLD-1: adds and removes in any order, each twice, leave the same members',
    alsoFails: ['ignoresRemoves', 'forgetsEarlyRemoves', 'removesTheField'],
    async run({ open }) {
      const views = await open();
      await show(views);
      const effects = [
        add('a'),
        remove('a', { seq: 9n }),
        remove('a', { seq: 8n }),
        add('b', { value: '1', version: version({ lamport: 1n }) }),
      ];
      const orders = permutations(effects);
      for (const _ of ['once', 'again']) {
        await inSteps(views, orders, (effect) => effect);
        const { documents } = await views.documents(STREAM, 'events', null, 1000);
        equal(documents.length, orders.length);
        for (const { fields } of documents) {
          const members = [...(fields.get('labels')?.members ?? [])];
          deepEqual(members, [['b', { value: '1', version: version({ lamport: 1n }) }]]);
        }
      }
    },
  },
  {
    title: 'FLD-1: many members of one document inside one call are all there',
    async run({ open }) {
      const views = await open();
      await show(views);
      const tags = Array.from({ length: 300 }, (_, at) => `tag-${String(at).padStart(3, '0')}`);
      await views.apply(
        STREAM,
        EPOCH,
        tags.map((tag) => add(tag)),
      );
      deepEqual(await members(views), tags);
    },
  },
  {
    title: 'FLD-8: a document is there while one of its members is, and so is a field; pages count what is there',
    kills: 'showsEmptyDocuments',
    alsoFails: ['ignoresRemoves'],
    async run({ open }) {
      const views = await open();
      await show(views);
      const empty = ['e1', 'e2', 'e4'].flatMap((id) => [
        remove('early', { id }),
        add('x', { id }),
        remove('x', { id }),
      ]);
      await views.apply(STREAM, EPOCH, [...empty, change({ id: 'e2' }), change({ id: 'e3' })]);
      equal(await views.document(STREAM, 'events', 'e1'), null);
      deepEqual([...((await views.document(STREAM, 'events', 'e2'))?.fields.keys() ?? [])], ['body']);
      const page = await views.documents(STREAM, 'events', null, 3);
      deepEqual([page.documents.map(({ id }) => id), page.next], [['e2', 'e3'], null]);
    },
  },
  {
    title: 'FLD-8: every field says its shape',
    kills: 'forgetsShapes',
    async run({ open }) {
      const views = await open();
      await show(views);
      const shapes: FieldShape[] = ['register', 'set', 'list', 'counter', 'latest'];
      for (const shape of shapes) await views.apply(STREAM, EPOCH, [change({ field: shape, shape, member: '7' })]);
      const fields = (await views.document(STREAM, 'events', 'e1'))!.fields;
      deepEqual([...fields].map(([name, { shape }]) => [name, shape]).sort(), shapes.map((s) => [s, s]).sort());
    },
  },
  {
    title: 'SEC-2: no choice of field and member makes two cells one',
    kills: 'joinsFieldAndMember',
    async run({ open }) {
      const views = await open();
      await show(views);
      const cells = [
        ['a#b', 'c'],
        ['a', 'b#c'],
        ['a', 'c'],
        ['a#', 'b'],
        ['a%23b', 'c'],
        ['', 'a'],
        ['.', '\u{10ffff}'],
      ] as const;
      const changes = cells.map(([field, member], at) => add(member, { field, value: String(at) }));
      await views.apply(STREAM, EPOCH, changes);
      const { fields } = (await views.document(STREAM, 'events', 'e1'))!;
      for (const [at, [field, member]] of cells.entries())
        equal(fields.get(field)?.members.get(member)?.value, String(at));
    },
  },
  {
    title:
      'FLD-1: a document may have a register and sets beside each other, and a remove takes no more than its member',
    kills: 'removesTheField',
    alsoFails: ['ignoresRemoves'],
    async run({ open }) {
      const views = await open();
      await show(views);
      await views.apply(STREAM, EPOCH, [change({ value: '1' }), add('a'), add('b'), add('a', { field: 'watchers' })]);
      await views.apply(STREAM, EPOCH, [remove('a')]);
      equal(await valueOf(views), '1');
      deepEqual([await members(views), await members(views, 'watchers')], [['b'], ['a']]);
    },
  },
];

async function members(views: Views, field = 'labels'): Promise<string[]> {
  const { fields } = (await views.document(STREAM, 'events', 'e1'))!;
  return [...(fields.get(field)?.members.keys() ?? [])].sort();
}
