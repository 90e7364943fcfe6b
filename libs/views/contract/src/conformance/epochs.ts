import { deepEqual, equal } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { EPOCH, REVISIONS, STREAM, type ViewsHarness, change, show, startBuild, valueOf, version } from './harness.ts';

/** Generations of a stream's rows: folded beside each other, shown one at a time. */
export const epochCases: readonly ConformanceCase<ViewsHarness>[] = [
  {
    title: 'FLD-7: rows of a stream without a mark are not shown until a mark names their epoch',
    kills: 'showsUnmarkedRows',
    async run({ open }) {
      const views = await open();
      await views.apply(STREAM, EPOCH, [change({ value: '1' })]);
      equal(await views.document(STREAM, 'events', 'e1'), null);
      deepEqual(await views.documents(STREAM, 'events', null, 10), { documents: [], next: null });
      await show(views);
      equal(await valueOf(views), '1');
    },
  },
  {
    title: 'FLD-7: a document is read from the shown epoch, not from the newest rows',
    kills: 'readsTheNewestRows',
    async run({ open }) {
      const views = await open();
      await views.apply(STREAM, EPOCH, [change({ value: '1' })]);
      await show(views);
      const build = await startBuild(views);
      await views.apply(STREAM, build, [change({ id: 'e2' }), change({ value: '2' })]);
      equal(await valueOf(views), '1');
      equal(await views.document(STREAM, 'events', 'e2'), null);
    },
  },
  {
    title: 'FLD-7: a list holds the documents of the shown epoch alone',
    kills: 'listsEveryEpoch',
    async run({ open }) {
      const views = await open();
      await views.apply(STREAM, EPOCH, [change({ id: 'a' })]);
      await show(views);
      await views.apply(STREAM, await startBuild(views), [change({ id: 'b' })]);
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
      await views.apply(STREAM, EPOCH, [change({ value: '"old"', version: version({ lamport: 9n }) })]);
      await show(views);
      const build = await startBuild(views);
      await views.apply(STREAM, build, [change({ value: '"new"', version: version({ lamport: 1n }) })]);
      await views.switchTo(STREAM, build);
      equal(await valueOf(views), '"new"');
    },
  },
  {
    title: 'FLD-7: from a switch on every worker reads the build, whole',
    kills: 'switchesForItselfAlone',
    async run({ open }) {
      const [one, two] = [await open(), await open()];
      await one.apply(STREAM, EPOCH, [change({ id: 'a' }), change({ id: 'b' })]);
      await show(one);
      const build = await startBuild(one);
      await one.apply(STREAM, build, [change({ id: 'b' }), change({ id: 'c' })]);
      equal(await one.switchTo(STREAM, build), 'switched');
      for (const views of [one, two]) {
        const { documents } = await views.documents(STREAM, 'events', null, 10);
        deepEqual(
          documents.map(({ id }) => id),
          ['b', 'c'],
        );
        deepEqual((await views.mark(STREAM))?.revisions, REVISIONS);
        equal(await views.build(STREAM), null);
      }
    },
  },
];
