import { deepEqual, equal, match } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { anOp, someOps } from '../an-op.ts';
import type { OpStore, SeenOp } from '../op-store.ts';
import type { OpStoreHarness } from './harness.ts';

/** What a fold asks that a reader of pages does not: what is there above a hole, and what will never be. */
export const aheadCases: readonly ConformanceCase<OpStoreHarness>[] = [
  {
    title: 'FLD-2: a look ahead shows every visible op above the cursor, whatever is missing between them',
    kills: 'ends-a-look-ahead-at-a-hole',
    async run({ open, plant }) {
      for (const seq of [2n, 5n, 9n]) await plant('s', seq, anOp({ opId: `op-${seq}` }));
      const store = await open();
      const ahead = await store.readAhead('s', 0n, 10);
      deepEqual(
        ahead,
        [2n, 5n, 9n].map((seq) => ({ seq, op: anOp({ opId: `op-${seq}` }) })),
      );
      deepEqual(seqsOf(await store.readAhead('s', 2n, 10)), [5n, 9n]);
      deepEqual(seqsOf(await store.readAhead('s', -5n, 1)), [2n]);
      deepEqual(await store.readAhead('s', 9n, 10), []);
      deepEqual(await store.readAhead('unknown', 0n, 10), []);
    },
  },
  {
    title: 'FLD-2: a look ahead keeps to its limit, and near its bytes, but shows one op however large it is',
    kills: 'looks-ahead-without-bound',
    async run({ open }) {
      const store = await open();
      await store.append(
        's',
        someOps(8).map((op) => ({ ...op, value: 'v'.repeat(10_000) })),
      );
      deepEqual(seqsOf(await store.readAhead('s', 1n, 3)), [2n, 3n, 4n]);
      deepEqual(await store.readAhead('s', 0n, 0), []);
      deepEqual(seqsOf(await store.readAhead('s', 0n, 8, 25_000)), [1n, 2n]);
      deepEqual(seqsOf(await store.readAhead('s', 5n, 8, 1000)), [6n]);
    },
  },
  {
    title: 'FLD-6: an op that cannot be read is shown with its seq and the reason, and ends no look ahead',
    kills: 'leaves-out-what-it-cannot-read',
    async run({ open, plant }) {
      const store = await open();
      await store.append('s', someOps(1));
      await plant('s', 2n, anOp({ opId: 'cut', extra: '{"sig":"mQ' }));
      await plant('s', 3n, anOp({ opId: 'behind' }));
      const [first, cut, behind] = await store.readAhead('s', 0n, 10);
      deepEqual([first?.op?.opId, cut?.op, behind?.op?.opId], ['op-1', null, 'behind']);
      equal(cut?.seq, 2n);
      match(cut?.op === null ? cut.problem : '', /extra/);
    },
  },
  {
    title: 'FLD-3: seqs at the end of a stream that hold no op and never will are proved burned',
    kills: 'proves-nothing-at-the-end',
    alsoFails: ['begins-an-erased-stream-anew'],
    async run({ open }) {
      const [store, other] = [await open(), await open()];
      await store.append('s', someOps(120));
      await store.erase('s');
      equal(await burnedFrom(other, 's', 0n), 120n);
      equal(await burnedFrom(store, 's', 100n), 120n);
    },
  },
  {
    title: 'FLD-1: no seq above the last one given is proved burned, nor one of an unknown stream',
    kills: 'proves-what-is-to-come',
    async run({ open }) {
      const store = await open();
      await store.append('s', someOps(3));
      equal(await store.burnedThrough('s', 3n), 3n);
      equal(await store.burnedThrough('s', 900n), 900n);
      equal(await store.burnedThrough('unknown', 0n), 0n);
    },
  },
  {
    title: 'FLD-1: what is proved burned ends below the next op',
    kills: 'proves-an-op-burned',
    alsoFails: ['counts-ops-instead-of-seqs'],
    async run({ open }) {
      const store = await open();
      await store.append('s', someOps(3));
      await store.erase('s');
      await store.append('s', someOps(2, 'later'));
      equal(await burnedFrom(store, 's', 0n), 3n);
      equal(await store.burnedThrough('s', 3n), 3n);
      equal(await store.burnedThrough('s', 4n), 4n);
    },
  },
  {
    title: 'FLD-8: an op is found by its id in its stream, also an old one',
    kills: 'finds-the-newest-op-alone',
    async run({ open }) {
      const [store, other] = [await open(), await open()];
      await store.append('a', someOps(3));
      await store.append('b', someOps(1, 'other'));
      deepEqual(await Promise.all(['op-1', 'op-2', 'op-3', 'other-1', 'op-4'].map((opId) => other.seqOf('a', opId))), [
        1n,
        2n,
        3n,
        null,
        null,
      ]);
      equal(await store.seqOf('unknown', 'op-1'), null);
    },
  },
  {
    title: 'FLD-1: a stream that was never truncated has no floor',
    kills: 'takes-the-head-for-a-floor',
    async run({ open }) {
      const store = await open();
      await store.append('s', someOps(3));
      deepEqual([await store.floor('s'), await store.floor('unknown')], [0n, 0n]);
    },
  },
];

function seqsOf(ops: readonly SeenOp[]): bigint[] {
  return ops.map(({ seq }) => seq);
}

/** Call by call, until nothing more is proved. */
async function burnedFrom(store: OpStore, stream: string, after: bigint): Promise<bigint> {
  for (let through = after; ;) {
    const next = await store.burnedThrough(stream, through);
    if (next === through) return through;
    through = next;
  }
}
