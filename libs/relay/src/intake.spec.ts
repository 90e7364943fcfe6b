import { MemoryBroker, MemoryQueues, passManualTime } from '@tidemark/libs-broker-contract/testing';
import { Fault } from '@tidemark/libs-kernel';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { MemoryOpStore, readAll } from '@tidemark/libs-op-store-contract/testing';
import type { Op } from '@tidemark/libs-wire';
import { encodeEvent, idempotencyKey } from '@tidemark/libs-wire';
import { eventOp } from './event-op.ts';
import { Intake, type IntakeOptions } from './intake.ts';

const TENANT = '0';

/** A queue, a log and any number of relays that drain the one into the other. */
class World {
  readonly time = new ManualTime();
  readonly #queues = new MemoryQueues(this.time);
  readonly broker = this.openBroker();
  readonly opStore = new FailingOpStore();
  readonly counts = { appended: 0, repeated: 0, parked: 0 };
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  #relays = 0;

  openBroker(): MemoryBroker {
    return new MemoryBroker({ clock: this.time, sleeper: this.time }, this.#queues);
  }

  relay(more: Partial<IntakeOptions> = {}): Intake {
    this.#relays += 1;
    const { time, counts } = this;
    return new Intake({
      broker: this.openBroker(),
      opStore: this.opStore,
      clock: time,
      sleeper: time,
      random: new SeededRandom(this.#relays),
      log: { warn: () => {} },
      metrics: {
        appended: (n) => void (counts.appended += n),
        repeated: (n) => void (counts.repeated += n),
        parked: () => void (counts.parked += 1),
      },
      owner: `relay-${this.#relays}`,
      ...more,
    });
  }

  start(intake = this.relay()): Intake {
    this.#running.push(intake.run(this.#stop.signal));
    return intake;
  }

  async publish(id: string | null, table = 'events', more: object = {}): Promise<void> {
    const data = JSON.stringify({ event_id: id, ...more });
    const body = encodeEvent({ table, receivedTimestamp: '2026-11-30T00:00:00.000Z', id, entity: null, data });
    const key = id === null ? {} : { idempotencyKey: idempotencyKey(TENANT, table, id) };
    await this.broker.publish({ tenant: TENANT, table }, body, key);
  }

  pass(ms: number): Promise<void> {
    return passManualTime(this.time, ms);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.pass(2000);
    await Promise.all(this.#running);
  }

  async log(stream = '0.events'): Promise<Op[]> {
    return (await readAll(this.opStore, stream, 100)).map(({ op }) => op);
  }
}

/** Refuses as many appends as asked, before or after really storing. */
class FailingOpStore extends MemoryOpStore {
  refuse = 0;
  /** The op of a document of this id fails whatever carries it, with this code. */
  poison: { id: string; code: 'invalid' | 'too_large' | 'internal' } | null = null;
  loseAnswers = 0;

  override async append(stream: string, ops: readonly Op[]) {
    const { poison } = this;
    if (poison !== null && ops.some(({ targetId }) => targetId === poison.id)) throw new Fault(poison.code, 'poison');
    if (this.refuse-- > 0) throw new Fault('unavailable', 'busy');
    const outcomes = await super.append(stream, ops);
    if (this.loseAnswers-- > 0) throw new Fault('unknown_outcome', 'no answer');
    return outcomes;
  }
}

let world: World;

beforeEach(async () => {
  world = new World();
  await world.broker.openQueue(TENANT, 1n << 30n);
});

afterEach(() => world.stop());

test('an event becomes an op of the stream of its tenant and table', async () => {
  await world.publish('ev-1', 'a b', { total: 9007199254740993 });
  world.start();
  await world.pass(1000);
  expect(await world.log('0.a%20b')).toEqual([
    {
      envelopeVersion: 1,
      opId: idempotencyKey('0', 'a b', 'ev-1'),
      lamport: 1n,
      site: 0n,
      domain: 'event',
      targetKind: 'a b',
      targetId: 'ev-1',
      field: 'body',
      opType: 'set',
      value: '{"event_id":"ev-1","total":9007199254740992}',
      author: '',
      wallClock: '2026-11-30T00:00:00.000Z',
      extra: '{}',
    },
  ]);
});

test("an event without id is named by the queue's name and its seq, and stands for itself", async () => {
  await world.publish(null);
  await world.publish(null);
  world.start();
  await world.pass(1000);
  const ops = await world.log();
  expect(new Set(ops.map(({ opId }) => opId)).size).toBe(2);
  expect(ops.map(({ opId, targetId }) => opId === targetId && opId.endsWith(':1'))).toEqual([true, false]);
});

test('SEC-2: an id that no path can name leaves the name of its document to the op id, and stays in the event', async () => {
  await world.publish('é'.repeat(512));
  await world.publish('é'.repeat(512) + 'x');
  world.start();
  await world.pass(1000);
  const [fits, long] = await world.log();
  expect(fits?.targetId).toBe('é'.repeat(512));
  expect(long?.targetId).toBe(long?.opId);
  expect(long?.value).toContain('éx');
});

test('events of many streams keep their queue order in each stream', async () => {
  for (let i = 0; i < 600; i++) await world.publish(`e${i}`, i % 3 === 0 ? 'x' : 'y');
  const intake = world.start();
  await world.pass(3000);
  const ids = async (stream: string) => (await world.log(stream)).map(({ targetId }) => Number(targetId.slice(1)));
  expect(await ids('0.x')).toEqual(Array.from({ length: 200 }, (_, i) => 3 * i));
  expect(await ids('0.y')).toEqual(Array.from({ length: 600 }, (_, i) => i).filter((i) => i % 3 !== 0));
  expect(await intake.pending()).toBe(0n);
});

test('R38: an append whose answer was lost is repeated, and stored once', async () => {
  for (let i = 0; i < 10; i++) await world.publish(`e${i}`);
  world.opStore.loseAnswers = 2;
  world.start();
  await world.pass(20_000);
  expect(await world.log()).toHaveLength(10);
  expect(world.counts).toEqual({ appended: 0, repeated: 10, parked: 0 });
});

test('while the store refuses, the batch is held and nothing overtakes it', async () => {
  for (let i = 0; i < 3; i++) await world.publish(`e${i}`);
  world.opStore.refuse = 3;
  world.start();
  await world.publish('later');
  await world.pass(30_000);
  expect((await world.log()).map(({ targetId }) => targetId)).toEqual(['e0', 'e1', 'e2', 'later']);
});

test('BRK-5: a relay that dies between append and ack leads to a redelivery, which the append absorbs', async () => {
  await world.publish('e1');
  const consumer = await world.openBroker().consume(TENANT, { name: 'relay-intake', ackWaitMs: 60_000 });
  const [delivery] = await consumer.fetch(1, 0);
  if (delivery === undefined) throw new Error('no delivery');
  const { stream, op } = eventOp(delivery);
  await world.opStore.append(stream, [op]);
  const intake = world.start();
  await world.pass(59_000);
  expect(await intake.pending()).toBe(1n);
  await world.pass(5000);
  expect(await intake.pending()).toBe(0n);
  expect(await world.log()).toHaveLength(1);
  expect(world.counts.repeated).toBe(1);
});

// kills: event-op.ts: extra: tracedExtra(event.traceparent), => extra: '{}',
test('OPS-1: an op continues the trace of its event, the same in every redelivery', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const event = { table: 'events', receivedTimestamp: 't', id: 'e1', entity: null, data: '{}', traceparent };
  await world.broker.publish({ tenant: TENANT, table: 'events' }, encodeEvent(event));
  const consumer = await world.openBroker().consume(TENANT, { name: 'other', ackWaitMs: 1000 });
  const [first] = await consumer.fetch(1, 0);
  await world.pass(2000);
  const [again] = await consumer.fetch(1, 0);
  expect(first && eventOp(first).op.extra).toBe(`{"traceparent":"${traceparent}"}`);
  expect(again && eventOp(again)).toEqual(first && eventOp(first));
  const spans: (readonly string[] | undefined)[] = [];
  const tracer = {
    span: <T>(_name: string, work: () => Promise<T>, parents?: readonly string[]) => (spans.push(parents), work()),
  };
  world.start(world.relay({ tracer }));
  await world.pass(2000);
  expect((await world.log()).map(({ extra }) => extra)).toEqual([`{"traceparent":"${traceparent}"}`]);
  expect(spans).toEqual([[traceparent]]);
});

test('of two relays one drains a queue; when it dies the other takes over', async () => {
  const lease = await world.openBroker().acquireLease(`intake/${TENANT}`, 'dead relay', 10_000);
  expect(lease).not.toBeNull();
  await world.publish('e1');
  world.start();
  world.start();
  await world.pass(9000);
  expect(await world.log()).toHaveLength(0);
  await world.pass(3000);
  expect(await world.log()).toHaveLength(1);
  expect(world.counts).toEqual({ appended: 1, repeated: 0, parked: 0 });
});

test('BRK-5: what a relay held when it died comes before what was published later', async () => {
  for (let i = 0; i < 300; i++) await world.publish(`held-${i}`);
  const append = jest.spyOn(world.opStore, 'append').mockReturnValueOnce(new Promise(() => {}));
  const dead = new AbortController();
  void world.relay().run(dead.signal);
  await world.pass(1000);
  expect(append).toHaveBeenCalledTimes(1);
  for (let i = 0; i < 10; i++) await world.publish(`later-${i}`);
  world.start();
  await world.pass(8000);
  const ids = (await world.log()).map(({ targetId }) => targetId);
  const inOrder = [
    ...Array.from({ length: 300 }, (_, i) => `held-${i}`),
    ...Array.from({ length: 10 }, (_, i) => `later-${i}`),
  ];
  expect(ids).toEqual(inOrder);
  dead.abort();
});

test('a message that is no event is parked with its reason and does not hold the others', async () => {
  await world.broker.publish({ tenant: TENANT, table: 'events' }, Buffer.from('{"data":'), {});
  await world.publish('e1');
  const intake = world.start();
  await world.pass(1000);
  expect(await world.log()).toHaveLength(1);
  expect(await intake.pending()).toBe(0n);
  const [letter] = await world.broker.deadLetters(TENANT, 0n, 10);
  expect(letter?.reason).toMatch(/json/);
  expect(world.counts.parked).toBe(1);
});

// kills: batch-store.ts: if (refusal !== null) throw refusal; => void refusal;
test('BRK-5: an event that the store can never hold is parked at once with the reason, and does not hold the others', async () => {
  jest
    .spyOn(world.opStore, 'refusal')
    .mockImplementation(({ targetId }) => (targetId === 'e1' ? new Fault('invalid', 'holds U+0000') : null));
  for (const id of ['e0', 'e1', 'e2']) await world.publish(id);
  const append = jest.spyOn(world.opStore, 'append');
  const intake = world.start();
  await world.pass(1000);
  expect((await world.log()).map(({ targetId }) => targetId)).toEqual(['e0', 'e2']);
  expect([append.mock.calls.length, await intake.pending(), world.counts.parked]).toEqual([1, 0n, 1]);
  expect((await world.broker.deadLetters(TENANT, 0n, 10)).map(({ reason }) => reason)).toEqual(['holds U+0000']);
});

// kills: batch-store.ts: attempt >= REFUSALS_MAX - 1 => false
// kills: batch-store.ts: attempt >= REFUSALS_MAX - 1 => true
test('BRK-5: an event that the store refuses again and again is found and parked, the others keep their order', async () => {
  world.opStore.poison = { id: 'e1', code: 'too_large' };
  for (const id of ['e0', 'e1', 'e2']) await world.publish(id);
  const append = jest.spyOn(world.opStore, 'append');
  const intake = world.start();
  await world.publish('later');
  await world.pass(20_000);
  expect((await world.log()).map(({ targetId }) => targetId)).toEqual(['e0', 'e2', 'later']);
  expect([append.mock.calls.length, await intake.pending(), world.counts.parked]).toEqual([5 + 4, 0n, 1]);
});

// kills: batch-store.ts: return code === 'invalid' => return code === 'internal' || code === 'invalid'
test('BRK-5: a fault of the store parks nothing, however long it lasts', async () => {
  world.opStore.poison = { id: 'e1', code: 'internal' };
  for (const id of ['e0', 'e1', 'e2']) await world.publish(id);
  const intake = world.start();
  await world.pass(120_000);
  expect([await intake.pending(), world.counts.parked]).toEqual([3n, 0]);
  world.opStore.poison = null;
  await world.pass(10_000);
  expect((await world.log()).map(({ targetId }) => targetId)).toEqual(['e0', 'e1', 'e2']);
});

test('OPS-4: however many wait until idle, the queue is asked once per look', async () => {
  const intake = world.relay();
  await world.publish('e1');
  let looks = 0;
  const pending = intake.pending.bind(intake);
  intake.pending = () => (looks++, pending());
  const waiting = Array.from({ length: 50 }, () => intake.waitUntilIdle(200, new AbortController().signal));
  await world.pass(1000);
  expect(await Promise.all(waiting)).toEqual(Array(50).fill(1n));
  // The first look of each, and one for all every 20 ms.
  expect(looks).toBeLessThanOrEqual(50 + 11);
});

test('waiting until idle ends when the last event has become an op, or when its time is over', async () => {
  const intake = world.relay();
  await world.publish('e1');
  const tooShort = intake.waitUntilIdle(500, new AbortController().signal);
  await world.pass(1000);
  expect(await tooShort).toBe(1n);
  const waiting = intake.waitUntilIdle(60_000, new AbortController().signal);
  world.start(intake);
  await world.pass(2000);
  expect(await waiting).toBe(0n);
});
