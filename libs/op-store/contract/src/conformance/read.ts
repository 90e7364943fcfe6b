import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { Fault } from '@tidemark/libs-kernel';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { anOp, someOps } from '../an-op.ts';
import { idsOf, readAll, seqsOf } from './look.ts';
import type { OpStoreHarness } from './harness.ts';

/** What read promises about cursors and pages. */
export const readCases: readonly ConformanceCase<OpStoreHarness>[] = [
  {
    title: 'RLY-1, R8: pages put end to end hold every op once, whatever the page size',
    kills: 'steps-over-an-op-at-a-page-end',
    async run({ open }) {
      const store = await open();
      await store.append('s', someOps(21));
      const whole = someOps(21).map(({ opId }) => opId);
      for (const limit of [1, 2, 10, 20, 21, 22]) deepEqual(idsOf({ ops: await readAll(store, 's', limit) }), whole);
    },
  },
  {
    title: 'R19: an exhausted read returns exactly the cursor that was sent, also above the end',
    kills: 'answers-the-head-when-exhausted',
    async run({ open }) {
      const store = await open();
      await store.append('s', someOps(2));
      deepEqual(await store.read('s', 2n, 10), { ops: [], next: 2n });
      deepEqual(await store.read('s', 900n, 10), { ops: [], next: 900n });
    },
  },
  {
    title: 'RLY-1: a negative cursor reads from the start, and comes back as sent when nothing is there',
    kills: 'raises-a-negative-cursor',
    async run({ open }) {
      const store = await open();
      deepEqual(await store.read('unknown', -5n, 10), { ops: [], next: -5n });
      await store.append('s', someOps(1));
      deepEqual(idsOf(await store.read('s', -(2n ** 63n), 10)), ['op-1']);
    },
  },
  {
    title: 'RLY-1: a limit of 0 is an empty page with the cursor as sent',
    kills: 'takes-limit-0-for-no-limit',
    async run({ open }) {
      const store = await open();
      await store.append('s', someOps(2));
      deepEqual(await store.read('s', 0n, 0), { ops: [], next: 0n });
    },
  },
  {
    title: 'RLY-1: a page ends near the asked number of bytes, and the next one goes on there',
    kills: 'ignores-the-byte-bound',
    async run({ open }) {
      const store = await open();
      const large = someOps(10).map((op) => ({ ...op, value: 'v'.repeat(10_000) }));
      await store.append('s', large);
      const page = await store.read('s', 0n, 10, 45_000);
      ok(page.ops.length >= 3 && page.ops.length <= 5, `${page.ops.length} ops of 10 kB in 45 kB`);
      equal(page.next, BigInt(page.ops.length));
      equal((await store.read('s', page.next, 10, 45_000)).ops[0]?.seq, page.next + 1n);
    },
  },
  {
    title: 'RLY-1: a page holds one op however large it is',
    kills: 'stops-before-a-large-op',
    async run({ open }) {
      const store = await open();
      const [small, ...more] = someOps(3);
      await store.append('s', [anOp({ ...small, value: 'v'.repeat(10_000) }), ...more]);
      equal((await store.read('s', 0n, 10, 1000)).ops[0]?.seq, 1n);
    },
  },
  {
    title: 'R44: the same cursor gives the same page again',
    kills: 'shows-a-page-once',
    async run({ open }) {
      const store = await open();
      await store.append('s', someOps(5));
      deepEqual(await store.read('s', 1n, 3), await store.read('s', 1n, 3));
    },
  },
  {
    title:
      'RLY-3: what one handle appended every other handle reads at once, also of a stream that was not there before',
    kills: 'remembers-that-a-stream-is-missing',
    async run({ open }) {
      const [writer, reader] = [await open(), await open()];
      deepEqual(await reader.read('s', 0n, 10), { ops: [], next: 0n });
      await writer.append('s', someOps(1));
      deepEqual(idsOf(await reader.read('s', 0n, 10)), ['op-1']);
    },
  },
  {
    title: 'RLY-17: head is the highest seq, 0 for an unknown stream, and sees the appends of other handles',
    kills: 'remembers-the-head',
    async run({ open }) {
      const [writer, reader] = [await open(), await open()];
      equal(await reader.head('s'), 0n);
      await writer.append('s', someOps(2));
      equal(await reader.head('s'), 2n);
    },
  },
  {
    title: 'RLY-2, S11: a seq above 2^53 is exact in pages, cursors and heads',
    kills: 'reads-seqs-as-numbers',
    async run({ open, plant }) {
      const seq = 9_007_199_254_740_993n;
      await plant('s', seq, anOp({ opId: 'far' }));
      const store = await open();
      deepEqual(await store.read('s', seq - 1n, 10), { ops: [{ seq, op: anOp({ opId: 'far' }) }], next: seq });
      equal(await store.head('s'), seq);
    },
  },
  {
    title: 'RLY-2, S11: the seq after one above 2^53 is exact',
    kills: 'counts-ops-instead-of-seqs',
    async run({ open, plant }) {
      await plant('s', 9_007_199_254_740_993n, anOp({ opId: 'far' }));
      const store = await open();
      deepEqual(seqsOf(await store.append('s', someOps(1))), [9_007_199_254_740_994n]);
    },
  },
  {
    title: 'RLY-1: a stored extra that is no JSON object fails the read with a fault that names it',
    kills: 'serves-a-corrupt-extra-as-none',
    async run({ open, plant }) {
      const store = await open();
      await store.append('s', someOps(1));
      for (const [stream, extra] of Object.entries({ cut: '{"sig":"mQ', empty: '', list: '[1]', none: 'null' })) {
        await plant(stream, 1n, anOp({ extra }));
        await rejects(store.read(stream, 0n, 10), namesExtra, `extra ${extra}`);
      }
    },
  },
];

function namesExtra(thrown: unknown): boolean {
  return thrown instanceof Fault && thrown.code === 'corrupt' && thrown.message.includes('extra');
}
