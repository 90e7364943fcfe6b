import { deepEqual, equal } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { anOp, someOps } from '../an-op.ts';
import { idsOf, seqsOf } from './look.ts';
import type { OpStoreHarness } from './harness.ts';

/** What an operator sees of a stream and can do to it, and who is told of appends. */
export const erasingCases: readonly ConformanceCase<OpStoreHarness>[] = [
  {
    title: 'RLY-19: a dense stream has no burned seqs, and an unknown one nothing',
    kills: 'calls-the-head-burned',
    async run({ open }) {
      const store = await open();
      await store.append('s', someOps(3));
      await store.append('s', someOps(2));
      deepEqual(await store.describe('s'), { head: 3n, burned: 0n });
      deepEqual(await store.describe('unknown'), { head: 0n, burned: 0n });
    },
  },
  {
    title: 'RLY-19: seqs that another writer left out count as burned',
    kills: 'sees-no-gaps',
    async run({ open, plant }) {
      await plant('s', 2n, anOp({ opId: 'a' }));
      await plant('s', 7n, anOp({ opId: 'b' }));
      deepEqual(await (await open()).describe('s'), { head: 7n, burned: 5n });
    },
  },
  {
    title: 'RLY-19: an erased stream holds no op and is listed no more',
    kills: 'erases-the-oldest-op-alone',
    async run({ open }) {
      const store = await open();
      await store.append('s', someOps(12));
      equal(await store.erase('s'), 12n);
      deepEqual((await store.read('s', 0n, 100)).ops, []);
      deepEqual(await store.streams(null, 10), []);
    },
  },
  {
    title: 'RLY-19: erasing a stream again, or one that never was, finds nothing',
    kills: 'counts-the-erased-again',
    async run({ open }) {
      const store = await open();
      await store.append('s', someOps(2));
      await store.erase('s');
      equal(await store.erase('s'), 0n);
      equal(await store.erase('unknown'), 0n);
    },
  },
  {
    title: 'RLY-19: erasing a stream leaves the others as they are',
    kills: 'erases-what-begins-alike',
    alsoFails: ['counts-all-streams-together'],
    async run({ open }) {
      const store = await open();
      for (const stream of ['a', 'ab', 'b']) await store.append(stream, someOps(2, stream));
      await store.erase('a');
      deepEqual(await store.streams(null, 10), [
        { stream: 'ab', head: 2n },
        { stream: 'b', head: 2n },
      ]);
    },
  },
  {
    title:
      'RLY-3, RLY-19: an erased stream goes on above its head, on every handle, so that a cursor never meets other ops',
    kills: 'begins-an-erased-stream-anew',
    alsoFails: ['counts-ops-instead-of-seqs', 'burns-a-seq-after-a-long-call'],
    async run({ open }) {
      const [store, other] = [await open(), await open()];
      await store.append('s', someOps(5));
      await store.erase('s');
      equal(await other.head('s'), 5n);
      deepEqual(await other.describe('s'), { head: 5n, burned: 5n });
      deepEqual(seqsOf(await other.append('s', someOps(2, 'later'))), [6n, 7n]);
      deepEqual(idsOf(await store.read('s', 5n, 10)), ['later-1', 'later-2']);
      deepEqual(idsOf(await store.read('s', 0n, 10)), ['later-1', 'later-2']);
      equal(await store.erase('s'), 2n);
      deepEqual(seqsOf(await store.append('s', someOps(1, 'last'))), [8n]);
    },
  },
  {
    title: 'RLY-19: an op of an erased stream is stored anew when it is pushed again',
    kills: 'remembers-erased-op-ids',
    alsoFails: ['counts-ops-instead-of-seqs'],
    async run({ open }) {
      const store = await open();
      await store.append('s', [anOp({ opId: 'again' })]);
      await store.erase('s');
      deepEqual(await store.append('s', [anOp({ opId: 'again' })]), [{ kind: 'stored', seq: 2n }]);
      deepEqual(idsOf(await store.read('s', 0n, 10)), ['again']);
    },
  },
  {
    title: 'RLY-14: where appends can be watched, those of another handle are told',
    kills: 'tells-of-its-own-appends-alone',
    run: ({ open }) => hearsEach(open, ['a']),
  },
  {
    title: 'RLY-14: where appends can be watched, each is told with its stream, however long the id is',
    kills: 'tells-of-the-first-stream-alone',
    alsoFails: ['tells-of-its-own-appends-alone'],
    run: ({ open }) => hearsEach(open, ['a', 'b/é', 'c'.repeat(600)]),
  },
];

async function hearsEach(open: OpStoreHarness['open'], streams: readonly string[]): Promise<void> {
  const [reader, writer] = [await open(), await open()];
  const heard = new Set<string>();
  const watch = await reader.watch((stream) => void heard.add(stream));
  if (watch === null) return;
  for (const stream of streams) {
    await writer.append(stream, someOps(1, stream));
    // Asked again and again, the store gets to say what it has to say; one that says nothing fails.
    for (let i = 0; i < 2000 && !heard.has(stream); i++) await writer.ping();
    equal(heard.has(stream), true);
  }
  await watch.close();
}
