import { deepEqual, equal } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { FIRST_EPOCH, type Views } from '../views.ts';
import { NOTHING_FOLDED } from '../watermark-state.ts';
import { EPOCH, REVISIONS, STREAM, type ViewsHarness, show, startBuild, through } from './harness.ts';

/** Marks of an epoch that is built, and the switch to it. */
export const buildCases: readonly ConformanceCase<ViewsHarness>[] = [
  {
    title: 'FLD-7: a build begins with nothing folded, in an epoch of its own, and leaves the shown mark alone',
    kills: 'copiesTheShownMark',
    async run({ open }) {
      const [one, two] = [await open(), await open()];
      await showThrough(one, 5n);
      const shown = await one.mark(STREAM);
      equal(await one.build(STREAM), null);
      const revisions = new Map([['event', 1]]);
      const started = await one.startBuild(STREAM, revisions);
      deepEqual(started, { watermark: NOTHING_FOLDED, epoch: 2, version: 1, revisions });
      deepEqual(await two.build(STREAM), started);
      deepEqual(await two.mark(STREAM), shown);
    },
  },
  {
    title: 'FLD-7: while one build is on, another does not begin, and the first stays as it is',
    kills: 'restartsBuilds',
    async run({ open }) {
      const [one, two] = [await open(), await open()];
      await show(one);
      const build = await startBuild(one);
      await one.saveMark(STREAM, build, through(3n), 1, REVISIONS);
      equal(await two.startBuild(STREAM, new Map([['event', 7]])), 'conflict');
      equal((await two.build(STREAM))?.watermark.foldedThrough, 3n);
    },
  },
  {
    title: 'FLD-7: of many workers that begin a build at the same time, one succeeds',
    async run({ open }) {
      const workers = [await open(), await open(), await open(), await open()];
      await show(workers[0]!);
      const outcomes = await Promise.all(workers.map((views) => views.startBuild(STREAM, REVISIONS)));
      equal(outcomes.filter((outcome) => outcome !== 'conflict').length, 1);
      deepEqual(
        outcomes.find((outcome) => outcome !== 'conflict'),
        await workers[0]!.build(STREAM),
      );
    },
  },
  {
    title: "FLD-7: a build's mark is saved over its own version, and the shown one over its own",
    kills: 'sharesOneVersion',
    async run({ open }) {
      const views = await open();
      await showThrough(views, 5n);
      await views.saveMark(STREAM, EPOCH, through(6n), 1, REVISIONS);
      const build = await startBuild(views);
      equal(await views.saveMark(STREAM, build, through(1n), 2, REVISIONS), 'conflict');
      equal(await views.saveMark(STREAM, build, through(2n), 1, REVISIONS), 'saved');
      equal(await views.saveMark(STREAM, EPOCH, through(7n), 2, REVISIONS), 'saved');
      deepEqual(await folded(views), [7n, 2n]);
    },
  },
  {
    title: 'FLD-7: a build that is behind the shown mark is not shown',
    kills: 'switchesBehind',
    async run({ open }) {
      const views = await open();
      await showThrough(views, 5n);
      const build = await startBuild(views);
      await views.saveMark(STREAM, build, through(4n), 1, REVISIONS);
      equal(await views.switchTo(STREAM, build), 'conflict');
      deepEqual(await folded(views), [5n, 4n]);
      await views.saveMark(STREAM, build, through(5n), 2, REVISIONS);
      equal(await views.switchTo(STREAM, build), 'switched');
      deepEqual(await folded(views), [5n, undefined]);
    },
  },
  {
    title: 'FLD-7: an epoch that is not what is being built is not shown',
    kills: 'switchesToAnyEpoch',
    async run({ open }) {
      const views = await open();
      equal(await views.switchTo(STREAM, 2), 'conflict');
      await show(views);
      equal(await views.switchTo(STREAM, 2), 'conflict');
      equal(await views.switchTo(STREAM, (await startBuild(views)) + 1), 'conflict');
      equal((await views.mark(STREAM))?.epoch, EPOCH);
    },
  },
  {
    title: 'FLD-7: a switch that is asked for again is switched',
    kills: 'switchesOnce',
    async run({ open }) {
      const [one, two] = [await open(), await open()];
      await show(one);
      const build = await startBuild(one);
      equal(await one.switchTo(STREAM, build), 'switched');
      equal(await one.switchTo(STREAM, build), 'switched');
      equal(await two.switchTo(STREAM, build), 'switched');
    },
  },
  {
    title: 'FLD-5: after a switch the mark of the old epoch is gone, and every save of it a conflict',
    kills: 'keepsOldMarks',
    async run({ open }) {
      const views = await open();
      await showThrough(views, 5n);
      const build = await startBuild(views);
      await views.saveMark(STREAM, build, through(5n), 1, REVISIONS);
      await views.switchTo(STREAM, build);
      const shown = await views.mark(STREAM);
      for (const expected of [0, 1, 2, 3])
        equal(await views.saveMark(STREAM, EPOCH, through(9n), expected, REVISIONS), 'conflict');
      deepEqual([await views.mark(STREAM), await views.build(STREAM)], [shown, null]);
    },
  },
  {
    title: 'FLD-7: the mark of a build goes on with its version when it is shown',
    kills: 'countsVersionsAnew',
    async run({ open }) {
      const views = await open();
      await show(views);
      const build = await startBuild(views);
      await views.saveMark(STREAM, build, through(1n), 1, REVISIONS);
      await views.switchTo(STREAM, build);
      equal((await views.mark(STREAM))?.version, 2);
      equal(await views.saveMark(STREAM, build, through(2n), 2, REVISIONS), 'saved');
    },
  },
  {
    title: 'FLD-7: a build that is abandoned is gone, its saves are conflicts, and another one may begin',
    kills: 'abandonsNothing',
    alsoFails: ['reusesEpochs'],
    async run({ open }) {
      const views = await open();
      await show(views);
      const build = await startBuild(views);
      await views.abandonBuild(STREAM, build);
      await views.abandonBuild(STREAM, build);
      equal(await views.build(STREAM), null);
      equal(await views.saveMark(STREAM, build, through(1n), 1, REVISIONS), 'conflict');
      equal(await views.switchTo(STREAM, build), 'conflict');
      equal(await startBuild(views), build + 1);
    },
  },
  {
    title: 'FLD-5: who abandons an epoch leaves a later build, and the shown epoch, alone',
    kills: 'abandonsAnyBuild',
    async run({ open }) {
      const views = await open();
      await show(views);
      const build = await startBuild(views);
      await views.abandonBuild(STREAM, build - 1);
      await views.abandonBuild(STREAM, build + 1);
      equal((await views.build(STREAM))?.epoch, build);
      equal((await views.mark(STREAM))?.epoch, EPOCH);
    },
  },
  {
    title: 'FLD-5: the number of an epoch is never used again, abandoned, dropped or replaced',
    kills: 'reusesEpochs',
    alsoFails: ['abandonsNothing'],
    async run({ open }) {
      const views = await open();
      await show(views);
      const epochs = [EPOCH];
      for (const end of ['abandon', 'abandon', 'switch', 'switch', 'abandon'] as const) {
        const build = await startBuild(views);
        epochs.push(build);
        if (end === 'abandon') await views.abandonBuild(STREAM, build);
        else await views.switchTo(STREAM, build);
        await views.dropEpochs(STREAM, 100);
      }
      deepEqual(epochs, [1, 2, 3, 4, 5, 6]);
    },
  },
  {
    title: 'FLD-7: a stream of which nothing is shown is never built in the first epoch, and may be shown by either',
    kills: 'buildsTheFirstEpoch',
    async run({ open }) {
      const views = await open();
      equal(await startBuild(views), FIRST_EPOCH + 1);
      await show(views);
      equal((await views.mark(STREAM))?.epoch, FIRST_EPOCH);
      equal((await views.build(STREAM))?.epoch, FIRST_EPOCH + 1);
      await startBuild(views, 'other');
      equal(await views.switchTo('other', FIRST_EPOCH + 1), 'switched');
      equal(await views.saveMark('other', FIRST_EPOCH, through(1n), 0, REVISIONS), 'conflict');
    },
  },
];

async function showThrough(views: Views, foldedThrough: bigint): Promise<void> {
  equal(await views.saveMark(STREAM, EPOCH, through(foldedThrough), 0, REVISIONS), 'saved');
}

/** Prefixes of the shown mark and of the build. */
async function folded(views: Views): Promise<(bigint | undefined)[]> {
  const marks = [await views.mark(STREAM), await views.build(STREAM)];
  return marks.map((mark) => mark?.watermark.foldedThrough);
}
