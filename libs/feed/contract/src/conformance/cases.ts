import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { Fault } from '@tidemark/libs-kernel';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { FeedHarness } from './harness.ts';
import { type Heads, covers, hear, hearUntil, othersRun, timePasses } from './look.ts';

/** What a feed promises; every adapter runs every case. */
export const feedCases: readonly ConformanceCase<FeedHarness>[] = [
  {
    title: 'F19: after a start without a checkpoint every stream that holds ops is named',
    kills: 'starts-at-the-newest',
    async run({ open, announce }) {
      const expected: Heads = new Map(Array.from({ length: 25 }, (_, i) => [`s${i}`, BigInt(1 + (i % 3))]));
      for (const [stream, head] of expected) await announce(stream, head);
      const heard = await hearUntil(await open(), expected);
      ok(covers(heard, expected));
    },
  },
  {
    title: 'FLD-3: a change after the start is named with its head, also of a stream that was named before',
    kills: 'names-a-stream-once',
    async run({ open, announce }) {
      await announce('a', 1n);
      const feed = await open();
      await hearUntil(feed, new Map([['a', 1n]]));
      for (const head of [2n, 3n]) {
        await announce('a', head);
        const expected: Heads = new Map([['a', head]]);
        ok(covers(await hearUntil(feed, expected), expected));
      }
    },
  },
  {
    title: 'FLD-3: the last change of many is named although a batch is full before it',
    kills: 'loses-the-end-of-a-full-batch',
    async run({ open, announce }) {
      const feed = await open();
      await feed.read(10, 0);
      const expected: Heads = new Map(Array.from({ length: 7 }, (_, i) => [`s${i}`, 1n]));
      for (const [stream, head] of expected) await announce(stream, head);
      ok(covers(await hearUntil(feed, expected, 3), expected));
    },
  },
  {
    title: 'OPS-4: a batch holds at most as many changes as asked',
    kills: 'ignores-the-bound',
    async run({ open, announce }) {
      for (let i = 0; i < 9; i++) await announce(`s${i}`, 1n);
      const feed = await open();
      for (let n = 0; n < 6; n++) ok((await feed.read(2, 0)).changes.length <= 2);
    },
  },
  {
    title: 'FLD-9: what was read and not checkpointed is named again after a restart',
    kills: 'checkpoints-what-it-reads',
    async run({ open, announce }) {
      await announce('done', 1n);
      const feed = await open();
      await feed.checkpoint((await feed.read(10, 0)).position);
      const expected: Heads = new Map([
        ['a', 2n],
        ['b', 1n],
      ]);
      for (const [stream, head] of expected) await announce(stream, head);
      await hearUntil(feed, expected);
      ok(covers(await hearUntil(await open(), expected), expected));
    },
  },
  {
    title: 'FLD-9: after a checkpoint later changes are still named, also across a restart',
    kills: 'checkpoints-too-far',
    async run({ open, announce }) {
      await announce('a', 1n);
      const feed = await open();
      const batch = await feed.read(10, 0);
      await announce('b', 1n);
      await feed.checkpoint(batch.position);
      ok(covers(await hearUntil(await open(), new Map([['b', 1n]])), new Map([['b', 1n]])));
    },
  },
  {
    title: 'FLD-3: a read waits for the first change and ends when it comes, not when its time is over',
    kills: 'sleeps-through-a-change',
    async run({ open, announce, time }) {
      const feed = await open();
      while ((await feed.read(10, 0)).changes.length > 0);
      const startMs = time.monotonic();
      const reading = feed.read(10, 60_000);
      await othersRun();
      await announce('late', 1n);
      const heard = hear(new Map(), await timePasses(time, reading));
      equal(heard.get('late'), 1n);
      ok(time.monotonic() - startMs < 10_000);
    },
  },
  {
    title: 'OPS-3: a read without a change ends empty after its time, and at once when its signal aborts',
    kills: 'ignores-the-signal',
    async run({ open, time }) {
      const feed = await open();
      deepEqual((await timePasses(time, feed.read(10, 500))).changes, []);
      const stop = new AbortController();
      const startMs = time.monotonic();
      const reading = feed.read(10, 60_000, stop.signal);
      stop.abort();
      deepEqual((await timePasses(time, reading)).changes, []);
      ok(time.monotonic() - startMs < 10_000);
    },
  },
  {
    title: 'FLD-9: a read with an aborted signal loses no change',
    kills: 'drops-what-an-aborted-read-found',
    async run({ open, announce }) {
      const feed = await open();
      await announce('s', 1n);
      const expected: Heads = new Map([['s', 1n]]);
      const heard = hear(new Map(), await feed.read(10, 1000, AbortSignal.abort()));
      ok(covers(heard, expected) || covers(await hearUntil(feed, expected), expected));
    },
  },
  {
    title: 'OPS-3: after close a read is refused as unavailable',
    kills: 'reads-after-close',
    async run({ open }) {
      const feed = await open();
      await feed.ping();
      await feed.close();
      await feed.close();
      await rejects(feed.read(10, 0), (thrown) => thrown instanceof Fault && thrown.code === 'unavailable');
    },
  },
];
