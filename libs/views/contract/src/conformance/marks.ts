import { deepEqual, equal } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { Views, WatermarkState } from '../views.ts';
import { EPOCH, NOTHING_FOLDED, STREAM, type ViewsHarness, change, show, valueOf, version } from './harness.ts';

const through = (foldedThrough: bigint): WatermarkState => ({ ...NOTHING_FOLDED, foldedThrough });

/** Marks: compare-and-set, exact, one per stream. */
export const markCases: readonly ConformanceCase<ViewsHarness>[] = [
  {
    title: 'F19: a stream that was never folded has no mark',
    kills: 'inventsMarks',
    async run({ open }) {
      equal(await (await open()).mark(STREAM), null);
    },
  },
  {
    title: 'FLD-5: of two workers that both save a first mark, the second gets a conflict',
    kills: 'firstSaveAlwaysWins',
    async run({ open }) {
      const [one, two] = [await open(), await open()];
      equal(await one.saveMark(STREAM, EPOCH, through(1n), 0), 'saved');
      equal(await two.saveMark(STREAM, EPOCH, through(2n), 0), 'conflict');
    },
  },
  {
    title: 'F14: a save that expects an older or a later version than the stored one is a conflict',
    kills: 'acceptsOutdatedVersions',
    async run({ open }) {
      const views = await open();
      for (const seq of [1n, 2n, 3n]) await saveNext(views, through(seq));
      const stored = (await views.mark(STREAM))!.version;
      equal(await views.saveMark(STREAM, EPOCH, through(4n), stored - 1), 'conflict');
      equal(await views.saveMark(STREAM, EPOCH, through(4n), stored + 1), 'conflict');
      equal(await views.saveMark(STREAM, EPOCH, through(4n), stored), 'saved');
    },
  },
  {
    title: 'F14: a save that expects a mark where none is stored is a conflict',
    kills: 'savesWithoutAMark',
    async run({ open }) {
      equal(await (await open()).saveMark(STREAM, EPOCH, through(1n), 1), 'conflict');
    },
  },
  {
    title: 'FLD-5: what answered conflict wrote nothing',
    kills: 'writesOnConflict',
    async run({ open }) {
      const views = await open();
      for (const seq of [1n, 2n]) await saveNext(views, through(seq));
      const before = await views.mark(STREAM);
      if ((await views.saveMark(STREAM, EPOCH + 1, through(9n), before!.version - 1)) === 'conflict') {
        deepEqual(await views.mark(STREAM), before);
      }
    },
  },
  {
    title: 'FLD-5: each save raises the version by one, from 1',
    kills: 'skipsVersions',
    async run({ open }) {
      const views = await open();
      for (const expected of [1, 2, 3]) {
        await saveNext(views, through(1n));
        equal((await views.mark(STREAM))?.version, expected);
      }
    },
  },
  {
    title: 'FLD-5: a worker sees the mark that another worker saved',
    kills: 'remembersMarks',
    async run({ open }) {
      const [one, two] = [await open(), await open()];
      await saveNext(one, through(1n));
      await one.mark(STREAM);
      await two.mark(STREAM);
      await saveNext(one, through(2n));
      equal((await two.mark(STREAM))?.watermark.foldedThrough, 2n);
    },
  },
  {
    title: 'FLD-5: a worker sees the rows that another worker applied, and competes with them',
    async run({ open }) {
      const [one, two] = [await open(), await open()];
      await show(one);
      await one.apply(STREAM, EPOCH, [change({ value: '2', version: version({ lamport: 2n }) })]);
      equal(await valueOf(two), '2');
      await two.apply(STREAM, EPOCH, [change({ value: '1', version: version({ lamport: 1n }) })]);
      equal(await valueOf(one), '2');
    },
  },
  {
    title: 'FLD-1: every stream has its own mark',
    kills: 'foldsCaseOfStreams',
    async run({ open }) {
      const views = await open();
      for (const [stream, seq] of [
        ['', 1n],
        ['a', 2n],
        ['A', 3n],
        ['a\0', 4n],
      ] as const) {
        equal(await views.saveMark(stream, EPOCH, through(seq), 0), 'saved');
      }
      equal((await views.mark('a'))?.watermark.foldedThrough, 2n);
    },
  },
  {
    title: 'FLD-1: prefix, ranges, holes and floor come back exactly, up to 2^63 - 1',
    kills: 'keepsSeqsAsDoubles',
    async run({ open }) {
      const top = 2n ** 63n - 1n;
      const watermark: WatermarkState = {
        foldedThrough: 9_007_199_254_740_993n,
        ahead: [
          { from: 9_007_199_254_740_995n, to: 9_007_199_254_740_995n },
          { from: top - 1n, to: top },
        ],
        holes: [
          { from: 9_007_199_254_740_994n, to: 9_007_199_254_740_994n, firstSeenMs: 5 },
          { from: 9_007_199_254_740_996n, to: top - 2n, firstSeenMs: 5 },
        ],
        floor: 9_007_199_254_740_993n,
      };
      const views = await open();
      await views.saveMark(STREAM, 7, watermark, 0);
      deepEqual(await views.mark(STREAM), { watermark, epoch: 7, version: 1 });
    },
  },
  {
    title: 'FLD-2: a hole keeps the time of its first sight, to the millisecond',
    kills: 'forgetsFirstSight',
    async run({ open }) {
      const views = await open();
      const watermark: WatermarkState = {
        foldedThrough: 1n,
        ahead: [{ from: 4n, to: 4n }],
        holes: [{ from: 2n, to: 3n, firstSeenMs: 1_790_000_000_123 }],
        floor: 0n,
      };
      await saveNext(views, watermark);
      deepEqual((await views.mark(STREAM))?.watermark.holes, watermark.holes);
    },
  },
];

async function saveNext(views: Views, watermark: WatermarkState): Promise<void> {
  const version = (await views.mark(STREAM))?.version ?? 0;
  equal(await views.saveMark(STREAM, EPOCH, watermark, version), 'saved');
}
