import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { OpStore, SequencedOp } from '../op-store.ts';
import { anOp, someOps } from '../an-op.ts';
import { idsOf, readAll, seqsOf } from './look.ts';
import type { OpStoreHarness } from './harness.ts';

/** What holds between writers, readers and restarts. */
export const sharingCases: readonly ConformanceCase<OpStoreHarness>[] = [
  {
    title: 'RLY-18, R28: 8 writers with 50 ops each on one stream take exactly the seqs 1 to 400',
    kills: 'takes-the-seq-before-the-write',
    async run({ open }) {
      const writers = await handles(open, 8);
      const seqs = await Promise.all(writers.map((store, i) => writeOneByOne(store, 's', 50, `w${i}`)));
      deepEqual(seqs.flat().sort(ascending), upTo(400));
      const stored = await readAll(writers[0] as OpStore, 's', 99);
      equal(new Set(idsOf({ ops: stored })).size, 400);
    },
  },
  {
    title: 'RLY-4: two streams written at once stay independent',
    kills: 'counts-all-streams-together',
    async run({ open }) {
      const [a, b] = [await open(), await open()];
      const seqs = await Promise.all([writeOneByOne(a, 'a', 40, 'a'), writeOneByOne(b, 'b', 40, 'b')]);
      deepEqual(seqs, [upTo(40), upTo(40)]);
    },
  },
  {
    title: 'RLY-5: writers that push one op at once all get the same seq; it is stored once and the next op follows it',
    kills: 'looks-for-the-op-id-before-the-write',
    async run({ open }) {
      const writers = await handles(open, 8);
      const outcomes = await Promise.all(writers.map((store) => store.append('s', someOps(1))));
      deepEqual(new Set(seqsOf(outcomes.flat())), new Set([1n]));
      equal(outcomes.flat().filter(({ kind }) => kind === 'stored').length, 1);
      deepEqual(seqsOf(await (writers[0] as OpStore).append('s', [anOp({ opId: 'next' })])), [2n]);
    },
  },
  {
    title: 'RLY-3, R2, R40: a reader that follows its cursor beside four writers is given every op once, in seq order',
    kills: 'shows-a-later-op-first',
    async run({ open }) {
      const [reader, ...writers] = (await handles(open, 5)) as [OpStore, ...OpStore[]];
      await reader.append('s', someOps(1, 'start'));
      let writing = true;
      const following = follow(reader, 's', () => writing);
      await Promise.all(writers.map((store, i) => writeInPairs(store, 's', 20, `w${i}`)));
      writing = false;
      deepEqual(
        (await following).map(({ seq }) => seq),
        upTo(161),
      );
    },
  },
  {
    title: 'RLY-6: ops, and the op ids that make them idempotent, outlive the handle that wrote them',
    kills: 'forgets-on-close',
    async run({ open }) {
      const before = await open();
      await before.append('s', someOps(1));
      await before.close();
      const after = await open();
      deepEqual(idsOf(await after.read('s', 0n, 10)), ['op-1']);
      deepEqual(await after.append('s', someOps(1)), [{ kind: 'existing', seq: 1n }]);
    },
  },
];

async function handles(open: () => Promise<OpStore>, n: number): Promise<OpStore[]> {
  const opened: OpStore[] = [];
  for (let i = 0; i < n; i++) opened.push(await open());
  return opened;
}

async function writeOneByOne(store: OpStore, stream: string, n: number, prefix: string): Promise<bigint[]> {
  const seqs: bigint[] = [];
  for (const op of someOps(n, prefix)) seqs.push(...seqsOf(await store.append(stream, [op])));
  return seqs;
}

async function writeInPairs(store: OpStore, stream: string, pairs: number, prefix: string): Promise<void> {
  for (let i = 0; i < pairs; i++) await store.append(stream, someOps(2, `${prefix}-${i}`));
}

/** Reads until the cursor stands still after writing ended; what comes must lie above what came. */
async function follow(store: OpStore, stream: string, writing: () => boolean): Promise<SequencedOp[]> {
  const seen: SequencedOp[] = [];
  for (let cursor = 0n; ;) {
    const last = !writing();
    const page = await store.read(stream, cursor, 7);
    ok(page.next >= cursor, 'the cursor never goes back');
    seen.push(...page.ops);
    if (last && page.next === cursor) return seen;
    cursor = page.next;
  }
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : 1;
}

function upTo(n: number): bigint[] {
  return Array.from({ length: n }, (_, i) => BigInt(i + 1));
}
