import { type FeedHarness, feedConformance } from '@tidemark/libs-feed-contract/testing';
import { Fault } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { IndexedOpStore } from '@tidemark/libs-op-store-contract';
import { MemoryOpLog, MemoryOpStore, anOp } from '@tidemark/libs-op-store-contract/testing';
import { connectOpStoreFeed } from './connect.ts';
import type { Bell } from './doorbells.ts';

function harness(): FeedHarness {
  const time = new ManualTime();
  const log = new MemoryOpLog();
  return {
    time,
    open: () => connectOpStoreFeed({ opStore: new MemoryOpStore(log), clock: time, sleeper: time }),
    announce: (stream, head) => raise(new MemoryOpStore(log), stream, head),
  };
}

async function raise(store: IndexedOpStore, stream: string, head: bigint): Promise<void> {
  for (let seq = (await store.head(stream)) + 1n; seq <= head; seq++)
    await store.append(stream, [anOp({ opId: String(seq) })]);
}

describe('OpStoreFeed', () => {
  test.each(feedConformance)('$title', ({ run }) => run(harness()));
});

async function open(store: IndexedOpStore) {
  const time = new ManualTime();
  return { time, feed: await connectOpStoreFeed({ opStore: store, clock: time, sleeper: time, passMs: 60_000 }) };
}

const streamsOf = (batch: { changes: readonly { stream: string }[] }) => batch.changes.map(({ stream }) => stream);

test('FLD-3: every stream is named again when a pass is due, changed or not', async () => {
  const store = new MemoryOpStore();
  for (const stream of ['a', 'b', 'c']) await raise(store, stream, 1n);
  const { feed, time } = await open(store);
  expect(streamsOf(await feed.read(10, 0)).sort()).toEqual(['a', 'b', 'c']);
  expect(streamsOf(await feed.read(10, 0))).toEqual([]);
  time.advance(60_000);
  expect(streamsOf(await feed.read(10, 0))).toEqual(['a', 'b', 'c']);
});

test('FLD-3: a long pass does not starve changes, nor changes the pass', async () => {
  const store = new MemoryOpStore();
  for (let i = 0; i < 20; i++) await raise(store, `p${String(i).padStart(2, '0')}`, 1n);
  const { feed } = await open(store);
  const heard = new Set<string>();
  for (let i = 0; i < 12; i++) {
    await raise(store, 'hot', BigInt(i + 1));
    const streams = streamsOf(await feed.read(4, 0));
    expect(streams).toContain('hot');
    for (const stream of streams) heard.add(stream);
  }
  expect(heard.size).toBe(21);
});

/** A store that refuses one of its calls for as long as `refused` names it. */
class Refusing extends MemoryOpStore {
  refused: 'changes' | 'streams' | null = null;

  override async changes(position: string, limit: number) {
    this.#refuse('changes');
    return super.changes(position, limit);
  }

  override async streams(after: string | null, limit: number) {
    this.#refuse('streams');
    return super.streams(after, limit);
  }

  #refuse(call: 'changes' | 'streams'): void {
    if (this.refused === call) throw new Fault('unavailable', 'busy');
  }
}

test.each(['changes', 'streams'] as const)('FLD-9: a fault of %s is passed on and loses no change', async (call) => {
  const store = new Refusing();
  await raise(store, 'old', 1n);
  const { feed, time } = await open(store);
  await feed.read(10, 0);
  await raise(store, 'new', 1n);
  time.advance(60_000);
  store.refused = call;
  await expect(feed.read(10, 0)).rejects.toThrow('busy');
  store.refused = null;
  expect(streamsOf(await feed.read(10, 0))).toEqual(['new', 'new', 'old']);
});

test('FLD-3: an idle feed polls fast at first, then every 100 ms, and costs the store one call each time', async () => {
  const store = new MemoryOpStore();
  const { feed, time } = await open(store);
  await feed.read(10, 0);
  const startMs = time.monotonic();
  const looks: number[] = [];
  const changes = store.changes.bind(store);
  store.changes = (position, limit) => {
    looks.push(time.monotonic() - startMs);
    return changes(position, limit);
  };
  const reading = feed.read(10, 400);
  for (let ms = 0; ms < 400; ms++) {
    await new Promise((resolve) => setImmediate(resolve));
    time.advance(1);
  }
  expect((await reading).changes).toEqual([]);
  expect(looks).toEqual([0, 2, 6, 14, 30, 62, 126, 226, 326, 400]);
});

describe('a doorbell', () => {
  // kills: doorbells.ts: bell(this.#ring) => bell(Object)
  test('FLD-3: ends the wait for the next look; without a ring the log is polled all the same', async () => {
    const { store, time, feed, ring } = await belled();
    const reading = feed.read(10, 60_000);
    for (let ms = 0; ms < 5000; ms += 100) await pass(time, 100);
    await raise(store, 'rung', 1n);
    ring();
    expect([streamsOf(await reading), time.monotonic()]).toEqual([['rung'], 5000]);
    const unrung = feed.read(10, 60_000);
    await raise(store, 'unrung', 1n);
    for (let ms = 0; ms < 1000; ms += 10) await pass(time, 10);
    expect(streamsOf(await unrung)).toEqual(['unrung']);
  });

  test('FLD-3: that rings while the log is looked at leads to one more look at once', async () => {
    const { store, time, feed, ring } = await belled();
    const changes = store.changes.bind(store);
    let looks = 0;
    store.changes = async (position, limit) => {
      const page = await changes(position, limit);
      if (looks++ > 0) return page;
      await raise(store, 'meanwhile', 1n);
      ring();
      return page;
    };
    expect(streamsOf(await feed.read(10, 60_000))).toEqual(['meanwhile']);
    expect(time.monotonic()).toBe(0);
  });

  test('FLD-3: that nobody can hear leaves the poll as it is', async () => {
    const store = new MemoryOpStore();
    const time = new ManualTime();
    const bells: Bell[] = [
      async () => null,
      async () => {
        throw new Fault('unavailable', 'no server');
      },
    ];
    const feed = await connectOpStoreFeed({ opStore: store, clock: time, sleeper: time, bells });
    await feed.read(10, 0);
    const reading = feed.read(10, 60_000);
    for (let ms = 0; ms < 1000; ms += 10) await pass(time, 10);
    await raise(store, 'polled', 1n);
    for (let ms = 0; ms < 200; ms += 10) await pass(time, 10);
    expect(streamsOf(await reading)).toEqual(['polled']);
  });
});

/** Lets what is due happen, and then so much time pass. */
async function pass(time: ManualTime, ms: number): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  time.advance(ms);
}

/** A feed with a bell that `ring` rings, after its first look. */
async function belled() {
  const store = new MemoryOpStore();
  const time = new ManualTime();
  let rung = () => {};
  const bell: Bell = async (onRing) => {
    rung = onRing;
    return { close: async () => {} };
  };
  const feed = await connectOpStoreFeed({ opStore: store, clock: time, sleeper: time, bells: [bell] });
  await feed.read(10, 0);
  return { store, time, feed, ring: () => rung() };
}
