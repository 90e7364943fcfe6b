import { deepEqual, equal } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { STREAM, type ViewsHarness, change, show, valueOf, version } from './harness.ts';

/** Generations of a stream's rows: folded beside each other, shown one at a time. */
export const epochCases: readonly ConformanceCase<ViewsHarness>[] = [
  {
    title: 'FLD-7: rows of a stream without a mark are not shown until a mark names their epoch',
    kills: 'showsUnmarkedRows',
    async run({ open }) {
      const views = await open();
      await views.apply(STREAM, 1, [change({ value: '1' })]);
      equal(await views.document(STREAM, 'events', 'e1'), null);
      deepEqual(await views.documents(STREAM, 'events', null, 10), { documents: [], next: null });
      await show(views, STREAM, 1);
      equal(await valueOf(views), '1');
    },
  },
  {
    title: 'FLD-7: a document is read from the epoch of the stored mark, not from the newest rows',
    kills: 'readsTheNewestRows',
    async run({ open }) {
      const views = await open();
      await views.apply(STREAM, 1, [change({ value: '1', version: version({ lamport: 1n }) })]);
      await show(views, STREAM, 1);
      await views.apply(STREAM, 2, [change({ id: 'e2' }), change({ value: '2', version: version({ lamport: 1n }) })]);
      equal(await valueOf(views), '1');
      equal(await views.document(STREAM, 'events', 'e2'), null);
    },
  },
  {
    title: 'FLD-7: a list holds the documents of the epoch of the stored mark alone',
    kills: 'listsEveryEpoch',
    async run({ open }) {
      const views = await open();
      await views.apply(STREAM, 1, [change({ id: 'a' })]);
      await views.apply(STREAM, 2, [change({ id: 'b' })]);
      await show(views, STREAM, 1);
      const page = await views.documents(STREAM, 'events', null, 10);
      deepEqual(
        page.documents.map((document) => document.id),
        ['a'],
      );
    },
  },
  {
    title: 'FLD-7: a write competes with the writes of its own epoch alone',
    kills: 'competesAcrossEpochs',
    async run({ open }) {
      const views = await open();
      await views.apply(STREAM, 1, [change({ value: '"old"', version: version({ lamport: 9n }) })]);
      await views.apply(STREAM, 2, [change({ value: '"new"', version: version({ lamport: 1n }) })]);
      await show(views, STREAM, 2);
      equal(await valueOf(views), '"new"');
    },
  },
];
