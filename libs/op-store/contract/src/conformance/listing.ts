import { deepEqual, equal, rejects } from 'node:assert/strict';
import { Fault } from '@tidemark/libs-kernel';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { OpStore } from '../op-store.ts';
import { anOp, someOps } from '../an-op.ts';
import type { OpStoreHarness } from './harness.ts';

/** Which streams there are, and the handle's life. */
export const listingCases: readonly ConformanceCase<OpStoreHarness>[] = [
  {
    title: 'RLY-19: streams come in the UTF-8 order of their ids',
    kills: 'sorts-streams-by-utf16',
    async run({ open }) {
      const store = await open();
      const sorted = ['B', 'a', 'é', '\uffee', '\u{10000}'];
      for (const stream of [...sorted].reverse()) await store.append(stream, someOps(1, stream));
      deepEqual(await namesOf(store, null), sorted);
    },
  },
  {
    title: 'RLY-19: streams are paged by the last id seen, which need not be there itself',
    kills: 'names-the-given-stream-again',
    async run({ open }) {
      const store = await open();
      for (const stream of ['a', 'b', 'c', 'd']) await store.append(stream, someOps(1, stream));
      deepEqual(await namesOf(store, null, 2), ['a', 'b']);
      deepEqual(await namesOf(store, 'b', 2), ['c', 'd']);
      deepEqual(await namesOf(store, 'd', 2), []);
      deepEqual(await namesOf(store, 'bb', 1), ['c']);
    },
  },
  {
    title: 'RLY-19: each stream comes with its highest seq',
    kills: 'lists-the-count-of-ops',
    async run({ open, plant }) {
      const store = await open();
      await store.append('a', someOps(3, 'a'));
      await plant('b', 12n, anOp());
      deepEqual(await store.streams(null, 10), [
        { stream: 'a', head: 3n },
        { stream: 'b', head: 12n },
      ]);
    },
  },
  {
    title: 'OPS-1: ping resolves while the handle is open',
    async run({ open }) {
      const store = await open();
      equal(await store.ping(), undefined);
    },
  },
  {
    title: 'OPS-3: after close every call is refused as unavailable, and other handles go on',
    kills: 'answers-after-close',
    async run({ open }) {
      const [closed, other] = [await open(), await open()];
      await closed.close();
      await closed.close();
      const calls = [
        () => closed.append('s', someOps(1)),
        () => closed.read('s', 0n, 1),
        () => closed.readAhead('s', 0n, 1),
        () => closed.burnedThrough('s', 0n),
        () => closed.floor('s'),
        () => closed.seqOf('s', 'op-1'),
        () => closed.head('s'),
        () => closed.streams(null, 1),
        () => closed.ping(),
      ];
      for (const call of calls)
        await rejects(call, (thrown) => thrown instanceof Fault && thrown.code === 'unavailable');
      equal((await other.append('s', someOps(1))).length, 1);
    },
  },
];

async function namesOf(store: OpStore, after: string | null, limit = 100): Promise<string[]> {
  return (await store.streams(after, limit)).map(({ stream }) => stream);
}
