import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { Views } from '../views.ts';
import { EPOCH, STREAM, type ViewsHarness, change, parkedOp, show, startBuild, valueOf } from './harness.ts';

/** What becomes of the rows of epochs that were left. */
export const leftEpochCases: readonly ConformanceCase<ViewsHarness>[] = [
  {
    title: 'FLD-7: rows and parked ops of a left epoch are deleted',
    kills: 'dropsNothing',
    async run({ open }) {
      const views = await open();
      await leaveAnEpoch(views);
      await views.dropEpochs(STREAM, 100);
      deepEqual(await views.parked(STREAM, EPOCH, 0n, 10), []);
      equal(await views.dropEpochs(STREAM, 100), 0);
    },
  },
  {
    title: 'FLD-7: a drop deletes about as many rows as it was asked to, and says how many until none are left',
    kills: 'dropsAllAtOnce',
    alsoFails: ['dropsNothing'],
    async run({ open }) {
      const views = await open();
      await leaveAnEpoch(views);
      const counts: number[] = [];
      do counts.push(await views.dropEpochs(STREAM, 2));
      while (counts.at(-1)! > 0 && counts.length < 10);
      equal(counts.at(-1), 0);
      ok(counts.length > 2 && counts.every((count) => count <= 2), String(counts));
    },
  },
  {
    title: 'FLD-7: a drop leaves what is shown',
    kills: 'dropsTheShown',
    async run({ open }) {
      const views = await open();
      await leaveAnEpoch(views);
      await views.dropEpochs(STREAM, 100);
      equal(await valueOf(views), '"new"');
    },
  },
  {
    title: 'FLD-7: a drop leaves what is built, and its parked ops',
    kills: 'dropsTheBuild',
    async run({ open }) {
      const views = await open();
      await leaveAnEpoch(views);
      const build = await startBuild(views);
      await views.apply(STREAM, build, [change({ value: '"built"' })]);
      await views.park(STREAM, build, parkedOp(1n));
      await views.dropEpochs(STREAM, 100);
      equal((await views.parked(STREAM, build, 0n, 10)).length, 1);
      await views.switchTo(STREAM, build);
      equal(await valueOf(views), '"built"');
    },
  },
  {
    title: 'FLD-7: a drop leaves the first epoch of a stream of which nothing is shown yet',
    kills: 'dropsTheUnshown',
    async run({ open }) {
      const views = await open();
      await views.apply(STREAM, EPOCH, [change({ value: '1' })]);
      equal(await views.dropEpochs(STREAM, 100), 0);
      const build = await startBuild(views);
      equal(await views.dropEpochs(STREAM, 100), 0);
      await views.abandonBuild(STREAM, build);
      await views.dropEpochs(STREAM, 100);
      await show(views);
      equal(await valueOf(views), '1');
    },
  },
  {
    title: 'FLD-5: what a worker writes into an epoch after it was dropped is seen by nobody, and dropped again',
    kills: 'dropsOnce',
    alsoFails: ['dropsNothing', 'dropsTheShown'],
    async run({ open }) {
      const views = await open();
      await leaveAnEpoch(views);
      while ((await views.dropEpochs(STREAM, 100)) > 0);
      await views.apply(STREAM, EPOCH, [change({ value: '"late"' })]);
      equal(await valueOf(views), '"new"');
      equal(await views.dropEpochs(STREAM, 100), 1);
    },
  },
  {
    title: 'FLD-7: a drop leaves other streams alone',
    kills: 'dropsOfEveryStream',
    async run({ open }) {
      const views = await open();
      await leaveAnEpoch(views);
      await views.apply('other', EPOCH, [change({ value: '1' })]);
      await show(views, 'other');
      await views.dropEpochs(STREAM, 100);
      equal(await valueOf(views, 'e1', 'body', 'other'), '1');
    },
  },
];

/** Five documents and a parked op of the first epoch, then one document in the next, which is shown. */
async function leaveAnEpoch(views: Views): Promise<void> {
  await show(views);
  const ids = ['e1', 'e2', 'e3', 'e4', 'e5'];
  await views.apply(
    STREAM,
    EPOCH,
    ids.map((id) => change({ id, value: '"old"' })),
  );
  await views.park(STREAM, EPOCH, parkedOp(6n));
  const build = await startBuild(views);
  await views.apply(STREAM, build, [change({ value: '"new"' })]);
  equal(await views.switchTo(STREAM, build), 'switched');
}
