import { deepEqual, ok, rejects } from 'node:assert/strict';
import { Fault } from '@tidemark/libs-kernel';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { someOps } from '../an-op.ts';
import type { IndexedOpStore, OpStore } from '../op-store.ts';
import type { IndexedOpStoreHarness } from './harness.ts';

/** What a store promises that can say which streams changed. */
export const changesCases: readonly ConformanceCase<IndexedOpStoreHarness>[] = [
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
    title: 'FLD-1, RLY-19: after an erasure a follower is told of every later append',
    kills: 'forgets-followers-on-erase',
    alsoFails: ['names-new-streams-alone'],
    async run({ open }) {
      const store = await open();
      await store.append('kept', someOps(2));
      await store.append('gone', someOps(20, 'gone'));
      const position = await store.position();
      await store.erase('gone');
      await store.append('later', someOps(3, 'later'));
      await store.append('kept', someOps(3, 'more'));
      const told = new Set<string>();
      for (let at = position; ;) {
        const page = await store.changes(at, 10);
        for (const { stream } of page.changed) told.add(stream);
        if (page.position === at) break;
        at = page.position;
      }
      deepEqual([told.has('later'), told.has('kept')], [true, true]);
    },
  },
  {
    title: 'OPS-3: after close no change is told any more',
    kills: 'tells-changes-after-close',
    alsoFails: ['answers-after-close'],
    async run({ open }) {
      const store = await open();
      const position = await store.position();
      await store.close();
      for (const call of [() => store.position(), () => store.changes(position, 1)])
        await rejects(call, (thrown) => thrown instanceof Fault && thrown.code === 'unavailable');
    },
  },
];

/** Follows the changes until the position stands still; each stream with the last head that came. */
async function changedHeads(store: IndexedOpStore, from: string, limit = 10): Promise<Record<string, bigint>> {
  return Object.fromEntries(await followChanges(store, from, () => false, limit));
}

/** Follows the changes until the position stands still after writing ended. */
async function followChanges(
  store: IndexedOpStore,
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
