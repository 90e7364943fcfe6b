import { deepEqual, equal } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { anOp, someOps } from '../an-op.ts';
import { idsOf, seqsOf } from './look.ts';
import type { OpStoreHarness } from './harness.ts';

/** What append promises to one writer. */
export const appendCases: readonly ConformanceCase<OpStoreHarness>[] = [
  {
    title: 'RLY-4: the first op of a stream takes seq 1 and each further one the next, in one call or many',
    kills: 'burns-a-seq-after-a-long-call',
    async run({ open }) {
      const store = await open();
      deepEqual(await store.append('s', someOps(1, 'first')), [{ kind: 'stored', seq: 1n }]);
      deepEqual(seqsOf(await store.append('s', someOps(12, 'many'))), range(2, 13));
      deepEqual(seqsOf(await store.append('s', someOps(1, 'last'))), [14n]);
    },
  },
  {
    title: 'RLY-4: each stream counts by itself',
    kills: 'counts-all-streams-together',
    async run({ open }) {
      const store = await open();
      await store.append('a', someOps(3, 'a'));
      deepEqual(seqsOf(await store.append('b', someOps(2, 'b'))), [1n, 2n]);
      deepEqual(seqsOf(await store.append('a', someOps(1, 'c'))), [4n]);
    },
  },
  {
    title: 'RLY-4: an append of no ops answers nothing and burns nothing',
    kills: 'burns-a-seq-on-an-empty-call',
    async run({ open }) {
      const store = await open();
      deepEqual(await store.append('s', []), []);
      deepEqual(seqsOf(await store.append('s', someOps(1))), [1n]);
    },
  },
  {
    title: 'RLY-4: an append goes on above the highest seq stored, also over a gap that another writer left',
    kills: 'counts-ops-instead-of-seqs',
    async run({ open, plant }) {
      await plant('s', 7n, anOp({ opId: 'old' }));
      const store = await open();
      deepEqual(seqsOf(await store.append('s', someOps(2))), [8n, 9n]);
    },
  },
  {
    title: 'RLY-4: a call of 1000 ops is stored whole',
    kills: 'stores-500-ops-a-call',
    async run({ open }) {
      const store = await open();
      const outcomes = await store.append('s', someOps(1000));
      deepEqual(seqsOf(outcomes), range(1, 1000));
      equal((await store.read('s', 999n, 10)).ops[0]?.op.opId, 'op-1000');
    },
  },
  {
    title: 'RLY-3: the ops of one call stand in the order given',
    kills: 'sorts-a-call-by-op-id',
    async run({ open }) {
      const store = await open();
      await store.append(
        's',
        ['z', 'a', 'm'].map((opId) => anOp({ opId })),
      );
      deepEqual(idsOf(await store.read('s', 0n, 10)), ['z', 'a', 'm']);
    },
  },
  {
    title:
      'RLY-5, R31, R32: a repeat answers the op’s own first seq, in its place in the answer, however far the end is',
    kills: 'answers-the-head-on-a-repeat',
    async run({ open }) {
      const store = await open();
      await store.append('s', someOps(3));
      deepEqual(await store.append('s', [anOp({ opId: 'new' }), anOp({ opId: 'op-2' })]), [
        { kind: 'stored', seq: 4n },
        { kind: 'existing', seq: 2n },
      ]);
      deepEqual(await store.append('s', someOps(1)), [{ kind: 'existing', seq: 1n }]);
    },
  },
  {
    title: 'RLY-5, R23: a batch whose answer was lost can be pushed again; nothing is stored twice',
    kills: 'answers-the-head-on-a-repeat',
    async run({ open }) {
      const store = await open();
      const first = await store.append('s', someOps(3));
      deepEqual(seqsOf(await store.append('s', someOps(3))), seqsOf(first));
      deepEqual(idsOf(await store.read('s', 0n, 10)), ['op-1', 'op-2', 'op-3']);
    },
  },
  {
    title: 'RLY-4, R13: a repeat burns no seq; the next new op follows the last one',
    kills: 'burns-a-seq-on-a-repeat',
    async run({ open }) {
      const store = await open();
      for (const opId of ['o1', 'o1', 'o2', 'o1', 'o2', 'o3']) await store.append('s', [anOp({ opId })]);
      const page = await store.read('s', 0n, 10);
      deepEqual(idsOf(page), ['o1', 'o2', 'o3']);
      equal(page.next, 3n);
    },
  },
  {
    title: 'RLY-5: of a half-stored batch the rest is stored behind what was there',
    kills: 'burns-a-seq-on-a-repeat',
    async run({ open }) {
      const store = await open();
      await store.append('s', someOps(1));
      deepEqual(seqsOf(await store.append('s', someOps(3))), [1n, 2n, 3n]);
    },
  },
  {
    title: 'RLY-5: an op id that comes twice in one call is stored once',
    kills: 'stores-a-repeat-inside-a-call',
    async run({ open }) {
      const store = await open();
      const outcomes = await store.append('s', [...someOps(1), ...someOps(1)]);
      deepEqual(outcomes, [
        { kind: 'stored', seq: 1n },
        { kind: 'existing', seq: 1n },
      ]);
      equal((await store.read('s', 0n, 10)).ops.length, 1);
    },
  },
  {
    title: 'RLY-5: the first content of an op id stays',
    kills: 'keeps-the-last-content',
    async run({ open }) {
      const store = await open();
      await store.append('s', [anOp({ value: 'first' })]);
      await store.append('s', [anOp({ value: 'second' })]);
      deepEqual((await store.read('s', 0n, 10)).ops, [{ seq: 1n, op: anOp({ value: 'first' }) }]);
    },
  },
  {
    title: 'RLY-5: the same op id in another stream is another op',
    kills: 'knows-op-ids-of-all-streams',
    async run({ open }) {
      const store = await open();
      await store.append('a', someOps(1));
      equal((await store.append('b', someOps(1)))[0]?.kind, 'stored');
      deepEqual(idsOf(await store.read('b', 0n, 10)), ['op-1']);
    },
  },
];

function range(from: number, to: number): bigint[] {
  return Array.from({ length: to - from + 1 }, (_, i) => BigInt(from + i));
}
