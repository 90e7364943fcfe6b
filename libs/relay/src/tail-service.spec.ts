import { MemoryOpStore } from '@tidemark/libs-op-store-contract/testing';
import {
  POLL_MS,
  SilentOpStore,
  TOLD_POLL_MS,
  TailWorld,
  type TailRelay,
  idsOf,
  settle,
  watched,
} from './spec-tails.ts';
import type { TailPage } from './tail-pages.ts';

let world: TailWorld;
beforeEach(() => (world = new TailWorld()));

const never = new AbortController().signal;
const poll = (relay: TailRelay, since: bigint, waitMs: number, gone = never, stream = 's') =>
  watched(relay.tail.pull(stream, since, 500, waitMs, gone));
const textIn = (seen: { value: unknown }): string => String((seen.value as { page: TailPage }).page.bytes);
const idsIn = (seen: { value: unknown }): string[] => idsOf(textIn(seen));

/** The relay hears the others. */
async function listening(relay: TailRelay): Promise<TailRelay> {
  void relay.hub.run(world.stop.signal);
  await settle();
  return relay;
}

describe('an append wakes who waits', () => {
  // kills: tail-seats.ts: this.#signs !== seen || this.#over => this.#over
  test('R20: an append of this relay at any moment of the change from reading to waiting is delivered at once', async () => {
    for (let turn = 0; turn < 60; turn++) {
      const relay = new TailWorld().relay();
      const seen = poll(relay, 0n, 55_000);
      await settle(turn);
      await relay.append('s', 'a');
      await settle();
      expect([turn, idsIn(seen)]).toEqual([turn, ['a']]);
    }
  });

  // kills: tail-hub.ts: await this.#poll.following(); => void this.#poll.following();
  test('R20: an append of another relay at any such moment is delivered with the next poll, when nobody tells of it', async () => {
    // As over a network: where the store stands is known a while after it was asked.
    class FarOpStore extends SilentOpStore {
      override async position(): Promise<string> {
        await settle(9);
        return super.position();
      }
    }
    for (let turn = 0; turn < 60; turn++) {
      const other = new TailWorld();
      const [relay, writer] = [other.relay({ store: new FarOpStore(other.log) }), other.relay()];
      const seen = poll(relay, 0n, 55_000);
      await settle(turn);
      await writer.append('s', 'a');
      await settle();
      other.time.advance(POLL_MS);
      await settle();
      expect([turn, seen.ended && idsIn(seen)]).toEqual([turn, ['a']]);
    }
  });

  // kills: tail-hub.ts: this.#hints.tell(stream); => void stream;
  test('RLY-14: an append of another relay is told by the broker, and delivered without a poll', async () => {
    const [relay, writer] = [world.relay({ broker: world.broker() }), world.relay({ broker: world.broker() })];
    await listening(relay);
    const seen = poll(relay, 0n, 55_000);
    await settle();
    await writer.append('s', 'a');
    await settle();
    expect(idsIn(seen)).toEqual(['a']);
    expect(relay.counts.woken).toEqual(['broker']);
    expect(relay.counts.delivered).toEqual([0]);
  });

  // kills: tail-hints.ts: this.#source !== 'store' => this.#source !== 'none'
  test('RLY-14: where the store tells of appends, the broker is not asked to', async () => {
    const broker = world.broker();
    const heard: string[] = [];
    await world.broker().onNotify('appended', (stream) => heard.push(stream));
    const relay = await listening(world.relay({ store: new MemoryOpStore(world.log), broker }));
    const writer = await listening(world.relay({ store: new MemoryOpStore(world.log), broker }));
    const seen = poll(relay, 0n, 55_000);
    await settle();
    await writer.append('s', 'a');
    await settle();
    expect([idsIn(seen), relay.counts.woken, heard]).toEqual([['a'], ['store'], []]);
  });

  test('RLY-14: what the hints lost is found by a poll, which then comes less often', async () => {
    const store = new SilentOpStore(world.log);
    const relay = await listening(world.relay({ store, broker: world.broker() }));
    const seen = poll(relay, 0n, 55_000);
    await settle();
    await world.relay().append('s', 'a');
    world.time.advance(TOLD_POLL_MS - 1);
    await settle();
    expect([seen.ended, store.polls]).toEqual([false, 0]);
    world.time.advance(1);
    await settle();
    expect([idsIn(seen), relay.counts.woken]).toEqual([['a'], ['poll']]);
  });

  // kills: tail-heads.ts: if (head !== state.head) => if (false)
  test('RLY-14: where the store cannot say what changed, the heads of the waited streams are polled, and no others', async () => {
    const store = new SilentOpStore(world.log);
    const asked: string[] = [];
    const head = store.head.bind(store);
    store.head = (stream) => {
      asked.push(stream);
      return head(stream);
    };
    const [relay, writer] = [world.relay({ store, indexed: false }), world.relay()];
    await writer.append('s', 'a');
    const all = [1n, 1n, 0n].map((since, n) => poll(relay, since, 55_000, never, n === 2 ? 'other' : 's'));
    await settle();
    world.time.advance(POLL_MS);
    await settle();
    expect([all.some(({ ended }) => ended), asked, store.polls]).toEqual([false, ['s', 'other'], 0]);
    await writer.append('s', 'b');
    world.time.advance(POLL_MS);
    await settle();
    expect([all.slice(0, 2).map(idsIn), all[2]!.ended]).toEqual([[['b'], ['b']], false]);
    expect(relay.counts.woken).toEqual(['poll']);
    asked.length = 0;
    world.time.advance(POLL_MS);
    await settle();
    expect(asked).toEqual(['other']);
  });

  // kills: tail-heads.ts: if (state.isAsked) continue; => void state;
  test('RLY-14: a stream whose head cannot be had, or is slow to come, holds up no other', async () => {
    const store = new SilentOpStore(world.log);
    const head = store.head.bind(store);
    let slow = 0;
    store.head = async (stream) => {
      if (stream === 'failing') throw new Error('throttled');
      if (stream === 'slow') return new Promise<bigint>(() => void slow++);
      return head(stream);
    };
    const [relay, writer] = [world.relay({ store, indexed: false }), world.relay()];
    const [, , good] = ['failing', 'slow', 's'].map((stream) => poll(relay, 0n, 55_000, never, stream));
    await settle();
    for (let look = 0; look < 3; look++) {
      world.time.advance(POLL_MS);
      await settle();
    }
    await writer.append('s', 'a');
    world.time.advance(POLL_MS);
    await settle();
    expect([good!.ended && idsIn(good!), slow, relay.counts.warnings]).toEqual([['a'], 1, 1]);
  });

  // kills: tail-heads.ts: state.left--; => void state;
  test('RLY-14: a head above which nothing can be read wakes its readers a few times, and then no more', async () => {
    const store = new SilentOpStore(world.log);
    store.head = async () => 9n;
    const read = jest.spyOn(store, 'read');
    const relay = world.relay({ store, indexed: false });
    const seen = poll(relay, 0n, 55_000);
    await settle();
    for (let look = 0; look < 50; look++) {
      world.time.advance(POLL_MS);
      await settle();
    }
    expect([seen.ended, relay.counts.woken, read.mock.calls.length]).toEqual([false, ['poll', 'poll', 'poll'], 2 + 3]);
  });

  test('RLY-14: many streams are asked 64 at a time', async () => {
    const store = new SilentOpStore(world.log);
    let [running, most] = [0, 0];
    store.head = async () => {
      most = Math.max(most, ++running);
      await settle(3);
      running--;
      return 0n;
    };
    const relay = world.relay({ store, indexed: false });
    const all = Array.from({ length: 90 }, (_, n) => poll(relay, 0n, 55_000, never, `s${n}`));
    await settle();
    world.time.advance(POLL_MS);
    await settle(200);
    expect([most, all.some(({ ended }) => ended)]).toEqual([64, false]);
  });

  test('RLY-14: one poll serves any number of readers, and nobody polls while nobody waits', async () => {
    const store = new SilentOpStore(world.log);
    const relay = world.relay({ store });
    const all = Array.from({ length: 50 }, (_, n) => poll(relay, 0n, 55_000, never, `s${n % 5}`));
    await settle();
    for (let n = 0; n < 10; n++) {
      world.time.advance(POLL_MS);
      await settle();
    }
    expect(store.polls).toBe(10);
    for (let n = 0; n < 5; n++) await relay.append(`s${n}`, 'a');
    await settle(1000);
    expect(all.every(({ ended }) => ended)).toBe(true);
    world.time.advance(POLL_MS);
    await settle();
    const { polls } = store;
    world.time.advance(60_000);
    await settle();
    expect([store.polls - polls, world.time.sleepers, relay.counts.waiting]).toEqual([0, 0, 0]);
  });

  test('RLY-14, OPS-4: readers that stand at the same place and are woken together share one read, and the bytes of its page', async () => {
    const store = new SilentOpStore(world.log);
    const relay = world.relay({ store });
    const all = Array.from({ length: 50 }, () => poll(relay, 0n, 55_000));
    await settle();
    const read = jest.spyOn(store, 'read');
    await relay.append('s', 'a');
    await settle(1000);
    expect(all.map(idsIn)).toEqual(all.map(() => ['a']));
    expect(read.mock.calls.length).toBeLessThan(5);
    const pages = new Set(all.map(({ value }) => (value as { page: TailPage }).page.bytes));
    expect(pages.size).toBeLessThan(5);
  });

  test('RLY-14: an append to another stream wakes nobody', async () => {
    const relay = world.relay();
    const seen = poll(relay, 0n, 55_000);
    await settle();
    await relay.append('other', 'a');
    world.time.advance(POLL_MS);
    await settle();
    expect([seen.ended, relay.counts.woken]).toEqual([false, []]);
  });

  test('RLY-14: a poll does not wake readers that have read what it found', async () => {
    const relay = world.relay();
    await poll(relay, 0n, 0);
    const seen = poll(relay, 0n, 55_000);
    await settle();
    await relay.append('s', 'a');
    await settle();
    const next = poll(relay, 1n, 55_000);
    await settle();
    world.time.advance(POLL_MS);
    await settle();
    expect([idsIn(seen), next.ended, relay.counts.woken]).toEqual([['a'], false, ['append']]);
  });

  test('OPS-4: a store that does not answer polls is asked again, from the same place', async () => {
    const store = new SilentOpStore(world.log);
    const relay = world.relay({ store });
    const seen = poll(relay, 0n, 55_000);
    await settle();
    store.failing = true;
    await world.relay().append('s', 'a');
    for (let n = 0; n < 3; n++) {
      world.time.advance(POLL_MS);
      await settle();
    }
    expect([seen.ended, relay.counts.warnings]).toEqual([false, 1]);
    store.failing = false;
    world.time.advance(POLL_MS);
    await settle();
    expect(idsIn(seen)).toEqual(['a']);
  });
});

describe('a wait ends', () => {
  test('RLY-14: after its time with the empty page and the cursor as it was sent', async () => {
    const relay = world.relay();
    const seen = poll(relay, -5n, 3000);
    await settle();
    world.time.advance(2999);
    await settle();
    expect(seen.ended).toBe(false);
    world.time.advance(1);
    await settle();
    expect(textIn(seen)).toBe('{"ops":[],"next":-5}');
    expect(relay.counts.waiting).toBe(0);
  });

  test('RLY-14: at once when there is a page, when none is waited for, and for a limit of 0', async () => {
    const relay = world.relay();
    await relay.append('s', 'a');
    const seen = [poll(relay, 0n, 55_000), poll(relay, 1n, 0), watched(relay.tail.pull('s', 0n, 0, 55_000, never))];
    await settle();
    expect(seen.map(idsIn)).toEqual([['a'], [], []]);
  });

  // kills: tail-seats.ts: for (const seat of seats) seat.end(); => for (const seat of seats) void seat;
  test('OPS-3: at once when the relay stops, for all who wait and all who come', async () => {
    const relay = world.relay();
    const all = Array.from({ length: 100 }, () => poll(relay, 0n, 55_000));
    await settle();
    world.stop.abort();
    await settle();
    const late = poll(relay, 0n, 55_000);
    await settle();
    expect([...all, late].map(idsIn)).toEqual([...all, late].map(() => []));
    expect([relay.counts.waiting, world.time.sleepers]).toEqual([0, 0]);
  });

  // kills: tail-seats.ts: gone.addEventListener('abort', () => seat.end(), { once: true }); => void gone;
  test('OPS-4: when the client goes, and its place is free again', async () => {
    const relay = world.relay({ readersMax: 1 });
    const gone = new AbortController();
    const seen = poll(relay, 0n, 55_000, gone.signal);
    await settle();
    expect(relay.counts.waiting).toBe(1);
    gone.abort();
    await settle();
    expect([seen.ended, relay.counts.waiting]).toEqual([true, 0]);
  });

  test('OPS-4: one reader too many is told when to come back, and one for whom there are ops is served', async () => {
    const relay = world.relay({ readersMax: 2 });
    await relay.append('full', 'a');
    const waiting = [poll(relay, 0n, 55_000), poll(relay, 0n, 55_000)];
    await settle();
    const refused = poll(relay, 0n, 55_000);
    const served = poll(relay, 0n, 55_000, never, 'full');
    await settle();
    expect(refused.error).toMatchObject({ code: 'overloaded', retryAfterMs: 5000 });
    expect(idsIn(served)).toEqual(['a']);
    expect(waiting.map(({ ended }) => ended)).toEqual([false, false]);
  });

  test('OPS-4: a reader that cannot wait because the store is away leaves no place taken', async () => {
    const store = new SilentOpStore(world.log);
    const relay = world.relay({ store });
    jest.spyOn(store, 'position').mockRejectedValueOnce(new Error('away'));
    const seen = poll(relay, 0n, 55_000);
    await settle();
    expect([(seen.error as Error).message, relay.counts.waiting]).toEqual(['away', 0]);
    const next = poll(relay, 0n, 55_000);
    await settle();
    await relay.append('s', 'a');
    await settle();
    expect(idsIn(next)).toEqual(['a']);
  });
});

describe('a cursor above the head', () => {
  test('RLY-17: is told so with the head where the setting asks for it, also in place of a wait', async () => {
    const relay = world.relay({ strictCursor: true });
    await relay.append('s', 'a', 'b');
    for (const waitMs of [0, 55_000]) {
      const seen = poll(relay, 3n, waitMs);
      await settle();
      expect(seen.value).toEqual({ kind: 'above_head', head: 2n });
    }
    const right = [poll(relay, 2n, 0), poll(relay, 0n, 0, never, 'empty'), poll(relay, -1n, 0, never, 'empty')];
    await settle();
    expect(right.map(idsIn)).toEqual([[], [], []]);
  });

  test('RLY-17: is answered with the empty page where the setting does not ask', async () => {
    const seen = poll(world.relay(), 3n, 0);
    await settle();
    expect(textIn(seen)).toBe('{"ops":[],"next":3}');
  });

  test('RLY-17: is told by a stream of events whatever the setting, before it begins', async () => {
    const relay = world.relay();
    await relay.append('s', 'a');
    expect(await relay.tail.follow('s', 2n, 500, never)).toEqual({ kind: 'above_head', head: 1n });
    expect(relay.counts.waiting).toBe(0);
  });

  // kills: tail-cursor.ts: return ops.some(({ seq }) => seq >= cursor) ? null : => return
  test('RLY-17: is none when the op at the cursor is there, and only the head lags behind it', async () => {
    class Lagging extends SilentOpStore {
      override async head(): Promise<bigint> {
        return 0n;
      }
    }
    const relay = world.relay({ strictCursor: true, store: new Lagging(world.log) });
    await relay.append('s', 'a');
    const seen = poll(relay, 1n, 0);
    await settle();
    expect(textIn(seen)).toBe('{"ops":[],"next":1}');
  });

  test('R41: an erased stream keeps its head, and its readers go on', async () => {
    const relay = world.relay({ strictCursor: true });
    await relay.append('s', 'a', 'b');
    await relay.store.erase('s');
    const seen = poll(relay, 2n, 55_000);
    await settle();
    await relay.append('s', 'c');
    await settle();
    expect(textIn(seen)).toMatch(/"next":3\}$/);
  });
});
