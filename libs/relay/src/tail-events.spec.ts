import {
  HEARTBEAT_MS,
  SLOW_MS,
  SilentOpStore,
  SpecSink,
  TailWorld,
  type TailRelay,
  follow,
  settle,
} from './spec-tails.ts';

let world: TailWorld;
let relay: TailRelay;
beforeEach(() => {
  world = new TailWorld();
  relay = world.relay();
});

const names = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => `op-${from + n}`);
const idsOfAll = ({ events }: SpecSink) => events.flatMap(({ ids }) => ids);

async function pass(ms: number): Promise<void> {
  world.time.advance(ms);
  await settle();
}

test('RLY-14: an event is a page, its id the cursor behind it, and begins the hint when to come again', async () => {
  await relay.append('s', ...names(1, 5));
  const sink = await follow(relay, 1n, 2);
  await settle();
  expect(sink.text).toMatch(/^retry: [12]\d{3}\n\nid: 3\ndata: \{"ops":\[.*\],"next":3\}\n\nid: 5\ndata: /);
  expect(sink.events).toEqual([
    { id: 3n, ids: ['op-2', 'op-3'] },
    { id: 5n, ids: ['op-4', 'op-5'] },
  ]);
  await relay.append('s', 'op-6');
  await settle();
  expect(sink.events.at(-1)).toEqual({ id: 6n, ids: ['op-6'] });
});

// kills: tail-events.ts: id: ${page.next} => id: ${page.next - 1n}
test('RLY-14: a client that was cut off after any event resumes with what it does not have', async () => {
  await relay.append('s', ...names(1, 20));
  const whole = await follow(relay, 0n, 3);
  await settle();
  for (let had = 0; had < whole.events.length; had++) {
    const first = whole.events.slice(0, had);
    const resumed = await follow(relay, first.at(-1)?.id ?? 0n, 3);
    await settle();
    expect([...first.flatMap(({ ids }) => ids), ...idsOfAll(resumed)]).toEqual(names(1, 20));
    resumed.leave();
  }
});

// kills: tail-events.ts: await seat.next(seen, heartbeatMs); => await seat.next(seen, 2 * heartbeatMs);
test('RLY-14: a silent stream says that it is alive, and a busy one has no need to', async () => {
  const sink = await follow(relay);
  await settle();
  await pass(HEARTBEAT_MS - 1);
  expect(sink.heartbeats).toBe(0);
  await pass(1);
  expect(sink.heartbeats).toBe(1);
  for (let n = 1; n <= 10; n++) {
    await relay.append('s', `op-${n}`);
    await pass(HEARTBEAT_MS / 2);
  }
  expect([sink.heartbeats, idsOfAll(sink)]).toEqual([1, names(1, 10)]);
});

test('RLY-14: a heartbeat looks, so that what no poll finds is delivered all the same', async () => {
  const store = new SilentOpStore(world.log);
  const deaf = world.relay({ store });
  jest.spyOn(store, 'changes').mockImplementation(async (position) => ({ changed: [], position }));
  const sink = await follow(deaf);
  await settle();
  await relay.append('s', 'op-1');
  await pass(HEARTBEAT_MS);
  expect(idsOfAll(sink)).toEqual(['op-1']);
});

test('OPS-4: a reader that does not read holds one page in memory, however much there is', async () => {
  const sink = new SpecSink();
  sink.reading = false;
  await follow(relay, 0n, 500, 's', sink);
  sink.readOnce();
  for (let n = 1; n <= 300; n++) await relay.append('s', `op-${n} ${'x'.repeat(10_000)}`);
  for (let page = 0; page < 5; page++) {
    await settle();
    sink.readOnce();
  }
  await settle();
  expect(sink.unreadMost).toBeGreaterThan(60_000);
  expect(sink.unreadMost).toBeLessThan(300_000);
});

// kills: tail-events.ts: unsent.total > UNSENT_BYTES_MAX ? MOMENT_MS : slowMs => 10 * slowMs
test('OPS-4: a reader that takes nothing is dropped after a while, and resumes with nothing lost or doubled', async () => {
  await relay.append('s', ...names(1, 10));
  const sink = await follow(relay, 0n, 4);
  sink.reading = false;
  await settle();
  await pass(SLOW_MS - 1);
  expect([sink.dropped, relay.counts.waiting]).toEqual([false, 1]);
  await pass(1);
  expect([sink.dropped, relay.counts]).toMatchObject([true, { waiting: 0, dropped: 1 }]);
  const had = sink.events;
  const resumed = await follow(relay, had.at(-1)?.id ?? 0n, 4);
  await settle();
  expect([...idsOfAll(sink), ...idsOfAll(resumed)]).toEqual(names(1, 10));
});

test('OPS-4: a reader that takes a piece now and then is slow, and stays', async () => {
  const sink = new SpecSink();
  sink.reading = false;
  await follow(relay, 0n, 500, 's', sink);
  sink.readOnce();
  await relay.append('s', ...names(1, 40).map((name) => `${name} ${'x'.repeat(10_000)}`));
  for (let piece = 0; piece < 20; piece++) {
    await pass(SLOW_MS - 1);
    sink.readOnce();
    await settle();
  }
  expect([sink.dropped, idsOfAll(sink).length]).toEqual([false, 40]);
});

// kills: tail-events.ts: unsent.total > UNSENT_BYTES_MAX ? MOMENT_MS : slowMs => slowMs
test('OPS-4: when much waits for slow readers altogether, each gets only a moment', async () => {
  const sinks = Array.from({ length: 300 }, () => new SpecSink());
  const many = world.relay({ readersMax: 300 });
  for (const sink of sinks) {
    await follow(many, 0n, 500, 's', sink);
    await settle();
    Object.assign(sink, { reading: false, keeping: false });
  }
  await many.append('s', ...names(1, 20).map((name) => `${name} ${'x'.repeat(12_000)}`));
  await settle(1000);
  await pass(100);
  const dropped = sinks.filter((sink) => sink.dropped).length;
  expect(dropped).toBeGreaterThan(10);
  expect(dropped).toBeLessThan(290);
});

test('OPS-3: when the relay stops every stream of events ends, and its client may come again', async () => {
  const sinks = await Promise.all(Array.from({ length: 20 }, () => follow(relay)));
  await settle();
  world.stop.abort();
  await settle();
  expect(sinks.every(({ ended, dropped }) => ended && !dropped)).toBe(true);
  expect([relay.counts.waiting, world.time.sleepers]).toEqual([0, 0]);
});

test('OPS-4: a client that goes gives its place back, also in the middle of a page', async () => {
  await relay.append('s', ...names(1, 10));
  const sink = await follow(relay, 0n, 4);
  sink.reading = false;
  await settle();
  sink.leave();
  await settle();
  expect([relay.counts.waiting, relay.counts.dropped]).toEqual([0, 0]);
});

test('a store that fails ends the stream of events; its client comes again and goes on', async () => {
  await relay.append('s', 'op-1');
  const sink = await follow(relay);
  await settle();
  jest.spyOn(relay.store, 'read').mockRejectedValueOnce(new Error('away'));
  await relay.append('s', 'op-2');
  await settle();
  expect([sink.ended, relay.counts.waiting, relay.counts.warnings]).toEqual([true, 0, 1]);
  const resumed = await follow(relay, sink.events.at(-1)!.id);
  await settle();
  expect([...idsOfAll(sink), ...idsOfAll(resumed)]).toEqual(['op-1', 'op-2']);
});

// kills: tail-events.ts: !seat.over && (await mayGoOn()) => !seat.over
test('SEC-1: a reader that may read no more is given no further op, and its silent stream ends at the heartbeat', async () => {
  let allowed = true;
  const readers = ['s', 'silent'].map((stream) => follow(relay, 0n, 500, stream, new SpecSink(), async () => allowed));
  const [busy, silent] = (await Promise.all(readers)) as [SpecSink, SpecSink];
  await relay.append('s', 'op-1');
  await settle();
  allowed = false;
  await relay.append('s', 'op-2');
  await settle();
  expect([idsOfAll(busy), busy.ended, silent.ended]).toEqual([['op-1'], true, false]);
  await pass(HEARTBEAT_MS);
  expect([silent.ended, silent.dropped, relay.counts.waiting]).toEqual([true, false, 0]);
});

test('SEC-1: a stream of events ends when nobody can tell whether it may go on', async () => {
  const unclear = async () => Promise.reject(new Error('the keys are away'));
  const sink = await follow(relay, 0n, 500, 's', new SpecSink(), unclear);
  await settle();
  expect([sink.ended, relay.counts.waiting, relay.counts.warnings]).toEqual([true, 0, 1]);
});
