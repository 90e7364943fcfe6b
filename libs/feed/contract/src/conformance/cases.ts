import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { Fault } from '@tidemark/libs-kernel';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { FeedHarness } from './harness.ts';
import { type Heads, covers, hear, hearUntil, look, othersRun, timePasses } from './look.ts';

/** What a feed promises; every adapter runs every case. */
export const feedCases: readonly ConformanceCase<FeedHarness>[] = [
  {
    title: 'F19: after a start without a checkpoint every stream that holds ops is named',
    kills: 'starts-at-the-newest',
    async run(harness) {
      const { open, announce } = harness;
      const expected: Heads = new Map(Array.from({ length: 25 }, (_, i) => [`s${i}`, BigInt(1 + (i % 3))]));
      for (const [stream, head] of expected) await announce(stream, head);
      const heard = await hearUntil(harness, await open(), expected);
      ok(covers(heard, expected));
    },
  },
  {
    title: 'FLD-3: a change after the start is named with its head, also of a stream that was named before',
    kills: 'names-a-stream-once',
    async run(harness) {
      const { open, announce } = harness;
      await announce('a', 1n);
      const feed = await open();
      await hearUntil(harness, feed, new Map([['a', 1n]]));
      for (const head of [2n, 3n]) {
        await announce('a', head);
        const expected: Heads = new Map([['a', head]]);
        ok(covers(await hearUntil(harness, feed, expected), expected));
      }
    },
  },
  {
    title: 'FLD-3: the last change of many is named although a batch is full before it',
    kills: 'loses-the-end-of-a-full-batch',
    async run(harness) {
      const { open, announce } = harness;
      const feed = await open();
      await look(harness, feed);
      const expected: Heads = new Map(Array.from({ length: 7 }, (_, i) => [`s${i}`, 1n]));
      for (const [stream, head] of expected) await announce(stream, head);
      ok(covers(await hearUntil(harness, feed, expected, 3), expected));
    },
  },
  {
    title: 'OPS-4: a batch holds at most as many changes as asked',
    kills: 'ignores-the-bound',
    async run(harness) {
      const { open, announce } = harness;
      for (let i = 0; i < 9; i++) await announce(`s${i}`, 1n);
      const feed = await open();
      for (let n = 0; n < 6; n++) ok((await look(harness, feed, 2)).changes.length <= 2);
    },
  },
  {
    title: 'FLD-9: what was read and not checkpointed is named again after a restart',
    kills: 'checkpoints-what-it-reads',
    async run(harness) {
      const { open, announce } = harness;
      await announce('done', 1n);
      const feed = await open();
      await feed.checkpoint((await look(harness, feed)).position);
      const expected: Heads = new Map([
        ['a', 2n],
        ['b', 1n],
      ]);
      for (const [stream, head] of expected) await announce(stream, head);
      await hearUntil(harness, feed, expected);
      ok(covers(await hearUntil(harness, await open(), expected), expected));
    },
  },
  {
    title: 'FLD-9: after a checkpoint later changes are still named, also across a restart',
    kills: 'checkpoints-too-far',
    async run(harness) {
      const { open, announce } = harness;
      await announce('a', 1n);
      const feed = await open();
      const batch = await look(harness, feed);
      await announce('b', 1n);
      await feed.checkpoint(batch.position);
      ok(covers(await hearUntil(harness, await open(), new Map([['b', 1n]])), new Map([['b', 1n]])));
    },
  },
  {
    title: 'FLD-3: a read waits for the first change and ends when it comes, not when its time is over',
    kills: 'sleeps-through-a-change',
    async run(harness) {
      const { open, announce, time } = harness;
      const feed = await open();
      while ((await look(harness, feed)).changes.length > 0);
      const startMs = time.monotonic();
      const reading = feed.read(10, 60_000);
      await othersRun(harness);
      await announce('late', 1n);
      const heard = hear(new Map(), await timePasses(harness, reading));
      equal(heard.get('late'), 1n);
      ok(time.monotonic() - startMs < 10_000);
    },
  },
  {
    title: 'OPS-3: a read without a change ends empty after its time, and at once when its signal aborts',
    kills: 'ignores-the-signal',
    async run(harness) {
      const { open, time } = harness;
      const feed = await open();
      deepEqual((await timePasses(harness, feed.read(10, 500))).changes, []);
      const stop = new AbortController();
      const startMs = time.monotonic();
      const reading = feed.read(10, 60_000, stop.signal);
      stop.abort();
      deepEqual((await timePasses(harness, reading)).changes, []);
      ok(time.monotonic() - startMs < 10_000);
    },
  },
  {
    title: 'FLD-9: a read with an aborted signal loses no change',
    kills: 'drops-what-an-aborted-read-found',
    async run(harness) {
      const { open, announce } = harness;
      const feed = await open();
      await announce('s', 1n);
      const expected: Heads = new Map([['s', 1n]]);
      const heard = hear(new Map(), await feed.read(10, 1000, AbortSignal.abort()));
      ok(covers(heard, expected) || covers(await hearUntil(harness, feed, expected), expected));
    },
  },
  {
    title: 'OPS-3: after close a read is refused as unavailable',
    kills: 'reads-after-close',
    async run(harness) {
      const { open } = harness;
      const feed = await open();
      await feed.ping();
      await feed.close();
      await feed.close();
      await rejects(feed.read(10, 0), (thrown) => thrown instanceof Fault && thrown.code === 'unavailable');
    },
  },
];
