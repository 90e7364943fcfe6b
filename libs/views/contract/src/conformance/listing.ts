import { deepEqual } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { Views } from '../views.ts';
import { EPOCH, REVISIONS, STREAM, type ViewsHarness, show, startBuild, through } from './harness.ts';

/** Marks of all streams. */
export const listingCases: readonly ConformanceCase<ViewsHarness>[] = [
  {
    title: 'FLD-3: marks are listed with their streams in the order of UTF-8 bytes: U+1F600 after U+FFFF',
    kills: 'listsStreamsByUtf16',
    async run({ open }) {
      const views = await open();
      const streams = ['😀', '\uffff', 'b', 'B', 'a#b', 'a', '%'];
      for (const [at, stream] of streams.entries())
        await views.saveMark(stream, EPOCH, through(BigInt(at)), 0, REVISIONS);
      const listed = await views.marks(null, 100);
      deepEqual(
        listed.map(({ stream, mark }) => [stream, mark.watermark.foldedThrough]),
        ['%', 'B', 'a', 'a#b', 'b', '\uffff', '😀'].map((stream) => [stream, BigInt(streams.indexOf(stream))]),
      );
      deepEqual(listed[0]?.mark, await views.mark('%'));
    },
  },
  {
    title: 'FLD-3: a page of marks starts above `after`, which need not be a stream',
    kills: 'repeatsTheStream',
    async run({ open }) {
      const views = await open();
      await showAll(views, ['a', 'b', 'c']);
      deepEqual(await names(views, 'a', 10), ['b', 'c']);
      deepEqual(await names(views, 'aa', 10), ['b', 'c']);
      deepEqual(await names(views, 'c', 10), []);
    },
  },
  {
    title: 'FLD-3: a page of marks holds `limit` of them, and is shorter at the end alone',
    kills: 'ignoresTheMarksLimit',
    async run({ open }) {
      const views = await open();
      await showAll(views, ['a', 'b', 'c', 'd', 'e']);
      deepEqual(await names(views, null, 2), ['a', 'b']);
      deepEqual(await names(views, 'b', 2), ['c', 'd']);
      deepEqual(await names(views, 'd', 2), ['e']);
    },
  },
  {
    title: 'FLD-7: a mark is listed once, of the shown epoch, and a stream of which nothing is shown is not',
    kills: 'listsBuilds',
    async run({ open }) {
      const views = await open();
      const built = await startBuild(views, 'a');
      await showAll(views, ['b', 'c']);
      await startBuild(views, 'b');
      deepEqual(await names(views, null, 10), ['b', 'c']);
      await views.switchTo('a', built);
      deepEqual(
        (await views.marks(null, 10)).map(({ stream, mark }) => [stream, mark.epoch]),
        [
          ['a', built],
          ['b', 1],
          ['c', 1],
        ],
      );
    },
  },
  {
    title: 'F19: without a mark the list is empty',
    async run({ open }) {
      const views = await open();
      deepEqual(await views.marks(null, 10), []);
      await views.mark(STREAM);
      deepEqual(await views.marks(null, 10), []);
    },
  },
];

async function showAll(views: Views, streams: readonly string[]): Promise<void> {
  for (const stream of streams) await show(views, stream);
}

async function names(views: Views, after: string | null, limit: number): Promise<string[]> {
  return (await views.marks(after, limit)).map(({ stream }) => stream);
}
