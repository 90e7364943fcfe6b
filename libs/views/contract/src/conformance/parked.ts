import { deepEqual } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { ParkedOp, Views } from '../views.ts';
import { EPOCH, STREAM, type ViewsHarness, parkedOp } from './harness.ts';

/** Ops that a mark passes unfolded. */
export const parkedCases: readonly ConformanceCase<ViewsHarness>[] = [
  {
    title: 'FLD-6: a parked op comes back exactly, whatever its id and its reason hold',
    kills: 'namesUnreadableOps',
    async run({ open }) {
      const views = await open();
      const ops: ParkedOp[] = [
        { seq: 1n, opId: null, reason: '', parkedAtMs: 0, attempts: 0 },
        { seq: 2n, opId: '', reason: 'too large:\n"\0"\u2028😀', parkedAtMs: 1_790_000_000_123, attempts: 3 },
        { seq: 2n ** 63n - 1n, opId: 'a\0b#%', reason: "it's", parkedAtMs: 1, attempts: 1 },
      ];
      for (const op of ops) await views.park(STREAM, EPOCH, op);
      deepEqual(await views.parked(STREAM, EPOCH, 0n, 10), ops);
    },
  },
  {
    title: 'FLD-6: parked ops come in the order of their seqs as numbers',
    kills: 'sortsSeqsAsTexts',
    async run({ open }) {
      const views = await open();
      for (const seq of [10n, 9n, 100n, 2n ** 62n]) await views.park(STREAM, EPOCH, parkedOp(seq));
      deepEqual(await seqs(views, 0n, 10), [9n, 10n, 100n, 2n ** 62n]);
    },
  },
  {
    title: 'FLD-6: a page of parked ops starts above `after`',
    kills: 'repeatsTheParked',
    async run({ open }) {
      const views = await open();
      for (const seq of [1n, 2n, 3n]) await views.park(STREAM, EPOCH, parkedOp(seq));
      deepEqual(await seqs(views, 1n, 10), [2n, 3n]);
    },
  },
  {
    title: 'FLD-6: a page of parked ops holds `limit` of them at most',
    kills: 'ignoresTheParkedLimit',
    async run({ open }) {
      const views = await open();
      for (const seq of [1n, 2n, 3n]) await views.park(STREAM, EPOCH, parkedOp(seq));
      deepEqual(await seqs(views, 0n, 2), [1n, 2n]);
    },
  },
  {
    title: 'FLD-6: an op that is parked again is there once, as it was parked last',
    kills: 'keepsTheFirstParked',
    async run({ open }) {
      const views = await open();
      const again = parkedOp(1n, { attempts: 2, reason: 'still' });
      for (const op of [parkedOp(1n), again]) await views.park(STREAM, EPOCH, op);
      deepEqual(await views.parked(STREAM, EPOCH, 0n, 10), [again]);
    },
  },
  {
    title: 'FLD-6: an op that is unparked is gone, once and twice, and no other with it',
    kills: 'unparksEverything',
    async run({ open }) {
      const views = await open();
      for (const seq of [1n, 2n]) await views.park(STREAM, EPOCH, parkedOp(seq));
      await views.unpark(STREAM, EPOCH, 1n);
      await views.unpark(STREAM, EPOCH, 1n);
      deepEqual(await seqs(views, 0n, 10), [2n]);
    },
  },
  {
    title: 'FLD-6: every stream and every epoch has parked ops of its own',
    kills: 'parksForEveryEpoch',
    async run({ open }) {
      const views = await open();
      await views.park(STREAM, EPOCH, parkedOp(1n));
      deepEqual(await views.parked(STREAM, EPOCH + 1, 0n, 10), []);
      deepEqual(await views.parked('other', EPOCH, 0n, 10), []);
      await views.unpark(STREAM, EPOCH + 1, 1n);
      deepEqual(await seqs(views, 0n, 10), [1n]);
    },
  },
];

async function seqs(views: Views, after: bigint, limit: number): Promise<bigint[]> {
  return (await views.parked(STREAM, EPOCH, after, limit)).map(({ seq }) => seq);
}
