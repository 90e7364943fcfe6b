import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { Fault } from '@tidemark/libs-kernel';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { OpStore } from '../op-store.ts';
import { anOp, someOps } from '../an-op.ts';
import type { OpStoreHarness } from './harness.ts';

/** Which streams there are, which ones changed, and the handle's life. */
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
    title: 'FLD-1: changes name every stream that any handle appended to after the position, with its head',
    kills: 'names-new-streams-alone',
    async run({ open }) {
      const [writer, reader] = [await open(), await open()];
      await writer.append('old', someOps(1, 'before'));
      await writer.append('quiet', someOps(1, 'quiet'));
      const position = await reader.position();
      await writer.append('old', someOps(2, 'after'));
      await reader.append('new', someOps(1, 'new'));
      deepEqual(await changedHeads(reader, position), { old: await reader.head('old'), new: await reader.head('new') });
    },
  },
  {
    title: 'FLD-1: an unchanged log answers no changes and the position as given',
    kills: 'moves-an-idle-position',
    async run({ open }) {
      const store = await open();
      const empty = await store.position();
      deepEqual(await store.changes(empty, 10), { changed: [], position: empty });
      await store.append('s', someOps(1));
      const position = await store.position();
      deepEqual(await store.changes(position, 10), { changed: [], position });
    },
  },
  {
    title: 'FLD-1: a page names at most the asked number of streams, and the pages together all of them',
    kills: 'drops-changes-above-the-limit',
    async run({ open }) {
      const store = await open();
      const position = await store.position();
      for (const stream of ['a', 'b', 'c', 'd', 'e']) await store.append(stream, someOps(2, stream));
      deepEqual(Object.keys(await changedHeads(store, position, 2)).sort(), ['a', 'b', 'c', 'd', 'e']);
    },
  },
  {
    title: 'FLD-9: changes after an older position come again',
    kills: 'names-a-change-once',
    async run({ open }) {
      const store = await open();
      const position = await store.position();
      await store.append('s', someOps(1));
      deepEqual(await changedHeads(store, position), { s: 1n });
      deepEqual(await changedHeads(store, position), { s: 1n });
    },
  },
  {
    title: 'FLD-1: a follower of the changes beside writers ends with the head of every stream',
    kills: 'passes-a-change-in-flight',
    async run({ open }) {
      const [reader, ...writers] = [await open(), await open(), await open(), await open()] as const;
      let writing = true;
      const following = followChanges(reader, await reader.position(), () => writing);
      await Promise.all(writers.map((store, i) => writeAround(store, ['a', 'b', 'c', 'd', 'e', 'f'], 30, `w${i}`)));
      writing = false;
      const ends = (await reader.streams(null, 10)).map(({ stream, head }) => [stream, head]);
      deepEqual([...(await following)].sort(), ends);
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
      const position = await closed.position();
      await closed.close();
      await closed.close();
      const calls = [
        () => closed.append('s', someOps(1)),
        () => closed.read('s', 0n, 1),
        () => closed.head('s'),
        () => closed.streams(null, 1),
        () => closed.position(),
        () => closed.changes(position, 1),
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

/** Follows the changes until the position stands still; each stream with the last head that came. */
async function changedHeads(store: OpStore, from: string, limit = 10): Promise<Record<string, bigint>> {
  return Object.fromEntries(await followChanges(store, from, () => false, limit));
}

/** Follows the changes until the position stands still after writing ended. */
async function followChanges(
  store: OpStore,
  from: string,
  writing: () => boolean,
  limit = 10,
): Promise<Map<string, bigint>> {
  const heads = new Map<string, bigint>();
  for (let position = from; ;) {
    const last = !writing();
    const page = await store.changes(position, limit);
    ok(page.changed.length <= limit, 'a page keeps to its limit');
    for (const { stream, head } of page.changed) heads.set(stream, head);
    if (last && page.position === position) return heads;
    position = page.position;
  }
}

async function writeAround(store: OpStore, streams: readonly string[], n: number, prefix: string): Promise<void> {
  for (let i = 0; i < n; i++) await store.append(streams[i % streams.length] as string, someOps(1, `${prefix}-${i}`));
}
