import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { Document, Views } from '../views.ts';
import { EPOCH, STREAM, type ViewsHarness, change, show, valueOf } from './harness.ts';

const ODD_IDS = [
  '',
  'a',
  '%',
  '%00',
  '%23',
  '%25',
  '#',
  '##',
  'a#b',
  '/',
  '..',
  ' a',
  'a ',
  "'",
  '"',
  '\\',
  'é',
  'e\u0301',
  '\uffff',
  '😀',
];

/** What readers get: texts and ids untouched, pages in byte order. */
export const documentCases: readonly ConformanceCase<ViewsHarness>[] = [
  {
    title: 'FLD-8: the text of a value comes back to the byte',
    kills: 'rewritesValues',
    async run({ open }) {
      const views = await open();
      await show(views);
      const value = ' {"n":9007199254740993.10,\n"n2":1e400,"s":"\\u0041😀\\u0000"} ';
      await views.apply(STREAM, EPOCH, [change({ value })]);
      equal(await valueOf(views), value);
    },
  },
  {
    title: 'SEC-2: ids that are empty or hold %, #, quotes or characters above U+FFFF are documents of their own',
    kills: 'escapesOneWay',
    async run({ open }) {
      const views = await open();
      await show(views);
      await views.apply(
        STREAM,
        EPOCH,
        ODD_IDS.map((id, place) => change({ id, field: id, value: String(place) })),
      );
      for (const [place, id] of ODD_IDS.entries()) {
        const document = await views.document(STREAM, 'events', id);
        deepEqual([document?.id, [...(document?.fields.keys() ?? [])]], [id, [id]]);
        equal(document?.fields.get(id)?.members.get('')?.value, String(place));
      }
    },
  },
  {
    title: 'SEC-2: no choice of stream and kind makes two kinds one',
    kills: 'joinsKeys',
    async run({ open }) {
      const views = await open();
      const places = [
        ['a#b', 'c'],
        ['a', 'b#c'],
      ] as const;
      for (const [stream, kind] of places) {
        await show(views, stream);
        await views.apply(stream, EPOCH, [change({ kind, value: JSON.stringify(stream) })]);
      }
      for (const [stream, kind] of places) {
        equal(
          (await views.document(stream, kind, 'e1'))?.fields.get('body')?.members.get('')?.value,
          JSON.stringify(stream),
        );
        equal((await views.documents(stream, kind, null, 10)).documents.length, 1);
      }
    },
  },
  {
    title: 'FLD-8: an unknown document is null, and an unknown kind is an empty page',
    async run({ open }) {
      const views = await open();
      await show(views);
      equal(await views.document(STREAM, 'events', 'e1'), null);
      deepEqual(await views.documents(STREAM, 'events', null, 10), { documents: [], next: null });
    },
  },
  {
    title: 'FLD-8: documents come in the order of the UTF-8 bytes of their ids: U+1F600 after U+FFFF',
    kills: 'ordersByUtf16',
    async run({ open }) {
      const views = await open();
      await withDocuments(views, ['😀', '\uffff', 'b', 'B', 'a\uffff', 'a😀']);
      const page = await views.documents(STREAM, 'events', null, 10);
      deepEqual(ids(page.documents), ['B', 'a\uffff', 'a😀', 'b', '\uffff', '😀']);
    },
  },
  {
    title: 'FLD-8: a page starts above `after`, which need not be a stored id',
    kills: 'repeatsAfter',
    async run({ open }) {
      const views = await open();
      await withDocuments(views, ['a', 'b', 'c', 'd']);
      deepEqual(ids((await views.documents(STREAM, 'events', 'b', 10)).documents), ['c', 'd']);
      deepEqual(ids((await views.documents(STREAM, 'events', 'bb', 10)).documents), ['c', 'd']);
    },
  },
  {
    title: 'FLD-8: the first page starts at the empty id',
    kills: 'startsAboveTheEmptyId',
    async run({ open }) {
      const views = await open();
      await withDocuments(views, ['', 'a']);
      deepEqual(ids((await views.documents(STREAM, 'events', null, 10)).documents), ['', 'a']);
    },
  },
  {
    title: 'FLD-8: a page that holds the last document says so, also when it is full',
    kills: 'promisesAnEmptyPage',
    async run({ open }) {
      const views = await open();
      await withDocuments(views, ['a', 'b', 'c', 'd']);
      equal((await views.documents(STREAM, 'events', null, 2)).next, 'b');
      equal((await views.documents(STREAM, 'events', 'b', 2)).next, null);
    },
  },
  {
    title: 'FLD-8: a page counts documents, not fields',
    kills: 'countsFields',
    async run({ open }) {
      const views = await open();
      await show(views);
      const fields = ['f1', 'f2', 'f3'].flatMap((field) => ['a', 'b', 'c'].map((id) => change({ id, field })));
      await views.apply(STREAM, EPOCH, fields);
      const page = await views.documents(STREAM, 'events', null, 2);
      deepEqual([...ids(page.documents), page.next], ['a', 'b', 'b']);
      for (const document of page.documents) deepEqual([...document.fields.keys()].sort(), ['f1', 'f2', 'f3']);
    },
  },
  {
    title: 'OPS-4: a page ends near bytesMax, holds at least one document, and the next one goes on behind it',
    kills: 'ignoresBytesMax',
    async run({ open }) {
      const views = await open();
      await show(views);
      const value = JSON.stringify('x'.repeat(100));
      await views.apply(
        STREAM,
        EPOCH,
        ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => change({ id, value })),
      );
      const page = await views.documents(STREAM, 'events', null, 10, 250);
      ok(page.documents.length >= 1 && page.documents.length <= 3, `${page.documents.length} documents`);
      equal(page.next, page.documents.at(-1)?.id);
      const rest = await views.documents(STREAM, 'events', page.next, 10);
      deepEqual([...ids(page.documents), ...ids(rest.documents)], ['a', 'b', 'c', 'd', 'e', 'f']);
      equal((await views.documents(STREAM, 'events', null, 10, 1)).documents.length, 1);
    },
  },
];

async function withDocuments(views: Views, idsToWrite: readonly string[]): Promise<void> {
  await show(views);
  await views.apply(
    STREAM,
    EPOCH,
    idsToWrite.map((id) => change({ id })),
  );
}

function ids(documents: readonly Document[]): string[] {
  return documents.map((document) => document.id);
}
