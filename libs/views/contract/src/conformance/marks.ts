import { deepEqual, equal } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { Revisions, Views } from '../views.ts';
import { NOTHING_FOLDED, type WatermarkState } from '../watermark-state.ts';
import { EPOCH, REVISIONS, STREAM, type ViewsHarness, change, show, through, valueOf, version } from './harness.ts';

const save = (views: Views, foldedThrough: bigint, expectedVersion: number, stream = STREAM) =>
  views.saveMark(stream, EPOCH, through(foldedThrough), expectedVersion, REVISIONS);

/** Marks: compare-and-set, exact, one per stream and epoch. */
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
      equal(await save(one, 1n, 0), 'saved');
      equal(await save(two, 2n, 0), 'conflict');
    },
  },
  {
    title: 'F14: a save that expects an older or a later version than the stored one is a conflict',
    kills: 'acceptsOutdatedVersions',
    async run({ open }) {
      const views = await open();
      for (const seq of [1n, 2n, 3n]) await saveNext(views, through(seq));
      const stored = (await views.mark(STREAM))!.version;
      equal(await save(views, 4n, stored - 1), 'conflict');
      equal(await save(views, 4n, stored + 1), 'conflict');
      equal(await save(views, 4n, stored), 'saved');
    },
  },
  {
    title: 'F14: a save that expects a mark where none is stored is a conflict',
    kills: 'savesWithoutAMark',
    async run({ open }) {
      equal(await save(await open(), 1n, 1), 'conflict');
    },
  },
  {
    title: 'FLD-7: the first mark of a stream is of the first epoch, and of no other',
    kills: 'opensAnyEpoch',
    async run({ open }) {
      const views = await open();
      equal(await views.saveMark(STREAM, 2, through(1n), 0, REVISIONS), 'conflict');
      equal(await views.mark(STREAM), null);
      equal(await save(views, 1n, 0), 'saved');
    },
  },
  {
    title: 'FLD-5: a save into an epoch that is neither shown nor built is a conflict, whatever its version',
    kills: 'epochUnchecked',
    async run({ open }) {
      const views = await open();
      await saveNext(views, through(1n));
      equal(await views.saveMark(STREAM, EPOCH + 1, through(9n), 1, REVISIONS), 'conflict');
      equal((await views.mark(STREAM))?.watermark.foldedThrough, 1n);
    },
  },
  {
    title: 'FLD-5: what answered conflict wrote nothing',
    kills: 'writesOnConflict',
    async run({ open }) {
      const views = await open();
      for (const seq of [1n, 2n]) await saveNext(views, through(seq));
      const before = await views.mark(STREAM);
      if ((await save(views, 9n, before!.version - 1)) === 'conflict') deepEqual(await views.mark(STREAM), before);
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
    title: 'FLD-5: of many workers that save over one version at the same time, one succeeds',
    alsoFails: ['firstSaveAlwaysWins', 'acceptsOutdatedVersions'],
    async run({ open }) {
      const workers = [await open(), await open(), await open(), await open()];
      for (const expected of [0, 1, 2]) {
        const outcomes = await Promise.all(workers.map((views, at) => save(views, BigInt(at), expected)));
        deepEqual(outcomes.sort(), ['conflict', 'conflict', 'conflict', 'saved']);
      }
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
        ['a', 2n],
        ['A', 3n],
        ['a#1', 4n],
        ['.streams', 5n],
        ['.mark', 6n],
      ] as const) {
        equal(await save(views, seq, 0, stream), 'saved');
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
        skipped: [],
        floor: 9_007_199_254_740_993n,
      };
      const views = await open();
      await saveNext(views, watermark);
      deepEqual((await views.mark(STREAM))?.watermark, watermark);
    },
  },
  {
    title: 'FLD-2: a hole keeps the time of its first sight, to the millisecond',
    kills: 'forgetsFirstSight',
    async run({ open }) {
      const views = await open();
      const holes = [{ from: 2n, to: 3n, firstSeenMs: 1_790_000_000_123 }];
      await saveNext(views, { ...through(1n), ahead: [{ from: 4n, to: 4n }], holes });
      deepEqual((await views.mark(STREAM))?.watermark.holes, holes);
    },
  },
  {
    title: 'FLD-2: skipped ranges stay listed',
    kills: 'forgetsSkipped',
    async run({ open }) {
      const views = await open();
      const skipped = [
        { from: 1n, to: 1n },
        { from: 2n ** 53n + 1n, to: 2n ** 63n - 1n },
      ];
      await saveNext(views, { ...NOTHING_FOLDED, skipped });
      deepEqual((await views.mark(STREAM))?.watermark.skipped, skipped);
    },
  },
  {
    title: 'FLD-7: a mark keeps the revision of each domain',
    kills: 'forgetsRevisions',
    async run({ open }) {
      const views = await open();
      const revisions: Revisions = new Map([
        ['event', 0],
        ['', 1],
        ['__proto__', 2],
        ['😀', 3],
        ['\uffff', 4_294_967_296],
      ]);
      await views.saveMark(STREAM, EPOCH, NOTHING_FOLDED, 0, revisions);
      const stored = (await views.mark(STREAM))!.revisions;
      deepEqual(new Map([...stored].sort()), new Map([...revisions].sort()));
    },
  },
];

async function saveNext(views: Views, watermark: WatermarkState): Promise<void> {
  const expectedVersion = (await views.mark(STREAM))?.version ?? 0;
  equal(await views.saveMark(STREAM, EPOCH, watermark, expectedVersion, REVISIONS), 'saved');
}
