import * as fc from 'fast-check';
import {
  POLL_MS,
  SLOW_MS,
  SilentOpStore,
  SpecSink,
  TailWorld,
  type TailRelay,
  idsOf,
  lossy,
  settle,
  watched,
} from './spec-tails.ts';

/** What happens next: somebody appends, readers lose their connection, the store or the hints fail, time passes. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('append'), relay: fc.nat(1), ops: fc.integer({ min: 1, max: 7 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle'), turns: fc.nat(40) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.nat(4000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut'), reader: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stall'), reader: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail'), relay: fc.nat(1), failing: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose'), losing: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A client that keeps its cursor, whatever happens to its connection. */
interface Reader {
  readonly ids: string[];
  /** Looks at what arrived, and begins anew where nothing runs. */
  turn(): Promise<void>;
  cut(): void;
  stall(): void;
}

function pollingReader(relay: TailRelay, limit: number): Reader {
  const ids: string[] = [];
  let cursor = 0n;
  let gone = new AbortController();
  let running: ReturnType<typeof watched<string>> | undefined;
  const begin = async () => {
    const pulled = await relay.tail.pull('s', cursor, limit, 2000, gone.signal);
    return pulled.kind === 'page' ? String(pulled.page.bytes) : '';
  };
  return {
    ids,
    async turn() {
      if (running?.ended === true) {
        const page = running.value;
        if (page !== undefined) {
          ids.push(...idsOf(page));
          cursor = BigInt((JSON.parse(page) as { next: number }).next);
        }
        running = undefined;
      }
      running ??= watched(begin());
    },
    // What was on its way to a client that is cut off is lost.
    cut() {
      gone.abort();
      gone = new AbortController();
      running = undefined;
    },
    stall() {},
  };
}

function eventReader(relay: TailRelay, limit: number): Reader {
  const ids: string[] = [];
  let lastId = 0n;
  let sink = new SpecSink();
  let begun = false;
  const take = () => {
    for (const event of sink.events) {
      ids.push(...event.ids);
      lastId = event.id;
    }
    sink.text = '';
  };
  return {
    ids,
    async turn() {
      take();
      if (sink.ended || sink.gone.signal.aborted) [sink, begun] = [new SpecSink(), false];
      if (begun) return;
      begun = true;
      const mine = sink;
      const followed = await relay.tail.follow('s', lastId, limit, mine.gone.signal).catch(() => null);
      if (followed?.kind === 'events') void followed.events.run(mine, async () => true);
      else mine.end();
    },
    cut() {
      take();
      sink.leave();
    },
    stall() {
      if (sink.reading) sink.reading = false;
      else sink.read();
    },
  };
}

test('RLY-14, RLY-3: whatever is lost, cut, stalled or fails, every reader sees every op once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), fc.integer({ min: 1, max: 5 }), run),
    { numRuns: 150 },
  );
});

async function run(steps: readonly Step[], limit: number): Promise<void> {
  const world = new TailWorld();
  let losing = false;
  const stores = [new SilentOpStore(world.log), new SilentOpStore(world.log)];
  const relays = stores.map((store) => world.relay({ store, broker: lossy(world.broker(), () => losing) }));
  for (const relay of relays) void relay.hub.run(world.stop.signal);
  const readers = relays.flatMap((relay) => [eventReader(relay, limit), pollingReader(relay, limit)]);
  const turn = async () => {
    for (const reader of readers) await reader.turn();
  };
  const appended: string[] = [];
  const act = async (one: Step) => {
    if (one.kind === 'append') {
      const ids = Array.from({ length: one.ops }, (_, n) => `op-${appended.length + n + 1}`);
      appended.push(...ids);
      await relays[one.relay]!.append('s', ...ids);
    }
    if (one.kind === 'settle') await settle(one.turns);
    if (one.kind === 'pass') world.time.advance(one.ms);
    if (one.kind === 'cut') readers[one.reader]!.cut();
    if (one.kind === 'stall') readers[2 * one.reader]!.stall();
    if (one.kind === 'fail') stores[one.relay]!.failing = one.failing;
    if (one.kind === 'lose') losing = one.losing;
  };
  for (const one of steps) {
    await turn();
    await act(one);
  }
  for (const store of stores) store.failing = false;
  // In the end a stalled reader is dropped, and the waits of the others end.
  for (let last = 0; last < 2 * appended.length + 300; last++) {
    await turn();
    await settle(40);
    if (last % 10 === 9) world.time.advance(last < 50 ? POLL_MS : SLOW_MS);
    if (readers.every(({ ids }) => ids.length === appended.length)) break;
  }
  world.stop.abort();
  for (const { ids } of readers) expect(ids).toEqual(appended);
}
