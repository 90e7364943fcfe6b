import { Fault } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { AppendOutcome } from '@tidemark/libs-op-store-contract';
import { MemoryOpStore, anOp, readAll, someOps } from '@tidemark/libs-op-store-contract/testing';
import type { Op } from '@tidemark/libs-wire';
import fc from 'fast-check';
import { StreamWriter, type StreamWriterOptions } from './stream-writer.ts';

/** A store whose appends wait until the test lets them go on. */
class GatedStore extends MemoryOpStore {
  readonly rounds: string[] = [];
  readonly #gates: (() => void)[] = [];
  /** What the append that comes as number n (from 0) ends with instead. */
  readonly faults = new Map<number, Fault>();

  readonly unwanted: (AbortSignal | undefined)[] = [];

  override async append(stream: string, ops: readonly Op[], unwanted?: AbortSignal): Promise<readonly AppendOutcome[]> {
    this.unwanted.push(unwanted);
    const fault = this.faults.get(this.rounds.length);
    this.rounds.push(`${stream}: ${ops.map(({ opId }) => opId).join(' ')}`);
    await new Promise<void>((resolve) => this.#gates.push(resolve));
    if (fault !== undefined) throw fault;
    const bad = ops.find(({ opId }) => opId === 'bad');
    if (bad !== undefined) throw new Fault('invalid', 'op "bad" cannot be stored');
    return super.append(stream, ops);
  }

  /** Ends the oldest append that waits, and lets everybody react. */
  async release(): Promise<void> {
    this.#gates.shift()?.();
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

let store: GatedStore;
let time: ManualTime;
let late: number;
let queued: [pushes: number, bytes: number];

beforeEach(() => {
  store = new GatedStore();
  time = new ManualTime();
  late = 0;
  queued = [0, 0];
});

function open(options: Partial<StreamWriterOptions> = {}): StreamWriter {
  return new StreamWriter({
    opStore: store,
    clock: time,
    sleeper: time,
    deadlineMs: 20_000,
    pushesMax: 100,
    bytesMax: 10_000,
    metrics: {
      round: () => {},
      queued: (pushes, bytes) => void (queued = [pushes, bytes]),
      late: () => late++,
    },
    ...options,
  });
}

const ids = (...opIds: string[]) => opIds.map((opId) => anOp({ opId }));
const seqs = async (pushed: Promise<readonly AppendOutcome[]>) => (await pushed).map(({ seq }) => seq);
/** How a push ended, or that it has not. */
async function endOf(pushed: Promise<unknown>): Promise<unknown> {
  const open = {};
  const end = await Promise.race([
    pushed.catch((fault: Fault) => [fault.code, fault.outcome]),
    settled().then(() => open),
  ]);
  return end === open ? 'open' : end;
}

test('RLY-4: pushes that wait for a stream become one append, and each is answered with its own seqs', async () => {
  const writer = open();
  const a = writer.append('s', ids('a'), 1);
  const b = writer.append('s', ids('b1', 'b2'), 1);
  const c = writer.append('s', ids('c', 'b1', 'a'), 1);
  await settled();
  expect(store.rounds).toEqual(['s: a']);
  await store.release();
  expect(await seqs(a)).toEqual([1n]);
  expect(store.rounds).toEqual(['s: a', 's: b1 b2 c b1 a']);
  await store.release();
  expect(await seqs(b)).toEqual([2n, 3n]);
  expect(await c).toEqual([
    { kind: 'stored', seq: 4n },
    { kind: 'existing', seq: 2n },
    { kind: 'existing', seq: 1n },
  ]);
  expect(queued).toEqual([0, 0]);
  time.advance(60_000);
  await settled();
  expect(late).toBe(0);
});

test('RLY-4: streams do not wait for each other', async () => {
  const writer = open();
  void writer.append('a', ids('1'), 1);
  void writer.append('b', ids('2'), 1);
  await settled();
  expect(store.rounds).toEqual(['a: 1', 'b: 2']);
});

// kills: stream-writer.ts: pieces.length > 1 && isOfTheOps(fault) => false
test('RLY-12: a push that cannot be stored fails alone; those that shared its round are stored in their order', async () => {
  const writer = open();
  const pushes = [ids('first'), ids('good'), ids('x', 'bad'), ids('after')].map((ops) => writer.append('s', ops, 1));
  for (let i = 0; i < 5; i++) await store.release();
  const [first, good, bad, after] = await Promise.all(pushes.map(endOf));
  expect([first, good, after]).toEqual([1n, 2n, 3n].map((seq) => [{ kind: 'stored', seq }]));
  expect(bad).toEqual(['invalid', 'not-done']);
});

// kills: stream-writer.ts: outcome === 'not-done' && => true &&
test('OPS-6: a round that may be stored is not done again push by push', async () => {
  const writer = open();
  void writer.append('s', ids('a'), 1);
  const joined = [writer.append('s', ids('b'), 1), writer.append('s', ids('c'), 1)];
  store.faults.set(1, new Fault('too_large', 'told to fail', { outcome: 'unknown' }));
  await settled();
  await store.release();
  await store.release();
  expect(await Promise.all(joined.map(endOf))).toEqual(Array(2).fill(['too_large', 'unknown']));
  expect(store.rounds).toHaveLength(2);
});

test.each(['unavailable', 'disk_full', 'unknown_outcome', 'internal'] as const)(
  'OPS-6: a store that is %s fails every push of the round, and each is told what is known',
  async (code) => {
    const writer = open();
    void writer.append('s', ids('a'), 1);
    const joined = [writer.append('s', ids('b'), 1), writer.append('s', ids('c'), 1)];
    store.faults.set(1, new Fault(code, 'told to fail'));
    await settled();
    await store.release();
    await store.release();
    const outcome = code === 'unavailable' || code === 'disk_full' ? 'not-done' : 'unknown';
    expect(await Promise.all(joined.map(endOf))).toEqual([
      [code, outcome],
      [code, outcome],
    ]);
    const next = writer.append('s', ids('d'), 1);
    await settled();
    await store.release();
    expect(await seqs(next)).toEqual([2n]);
  },
);

test('RLY-10: a push past its deadline that still waits was not done, and is never written', async () => {
  const writer = open();
  const a = writer.append('s', ids('a'), 1);
  time.advance(15_000);
  const b = writer.append('s', ids('b'), 1);
  time.advance(5000);
  expect(await endOf(a)).toEqual(['deadline', 'unknown']);
  expect(await endOf(b)).toBe('open');
  time.advance(15_000);
  expect(await endOf(b)).toEqual(['deadline', 'not-done']);
  await store.release();
  expect(store.rounds).toEqual(['s: a']);
  expect([late, queued]).toEqual([1, [0, 0]]);
});

test('RLY-10: a push answered at its deadline leaves its round to the others, and what was stored stays', async () => {
  const writer = open();
  void writer.append('s', ids('a'), 1).catch(() => {});
  const b = writer.append('s', ids('b'), 1);
  time.advance(15_000);
  const c = writer.append('s', ids('c'), 1);
  await settled();
  await store.release();
  time.advance(5000);
  expect(await endOf(b)).toEqual(['deadline', 'unknown']);
  await store.release();
  expect(await seqs(c)).toEqual([3n]);
  expect((await readAll(store, 's', 10)).map(({ op }) => op.opId)).toEqual(['a', 'b', 'c']);
});

// kills: stream-writer.ts: exceeds(this.#all, bytes, pushesMax, bytesMax) => false
test('OPS-4: pushes over the bound are refused, certainly not done, and told when to come back', async () => {
  const writer = open({ pushesMax: 4 });
  for (const stream of ['a', 'b', 'c', 'd']) void writer.append(stream, ids('1'), 1);
  const refused = writer.append('e', ids('1'), 1);
  await expect(refused).rejects.toMatchObject({ code: 'overloaded', outcome: 'not-done', retryAfterMs: 1000 });
  await store.release();
  void writer.append('e', ids('1'), 1);
  await settled();
  expect(store.rounds).toEqual(['a: 1', 'b: 1', 'c: 1', 'd: 1', 'e: 1']);
});

// kills: stream-writer.ts: exceeds(own, bytes, pushesMax * STREAM_SHARE, bytesMax * STREAM_SHARE) => false
test('OPS-4: one stream may not fill the queue for the others, its round counted too', async () => {
  const writer = open({ pushesMax: 4 });
  const pushes = ['1', '2', '3'].map((id) => writer.append('busy', ids(id), 1));
  expect(await Promise.all(pushes.map(endOf))).toEqual(['open', 'open', ['overloaded', 'not-done']]);
  expect(await endOf(writer.append('other', ids('1'), 1))).toBe('open');
  expect(await endOf(writer.append('other', ids('2'), 1))).toBe('open');
});

test('OPS-4: bytes are bounded too, per stream and in all, but a push that finds nothing before it is taken', async () => {
  const writer = open({ bytesMax: 100 });
  expect(await endOf(writer.append('s', ids('large'), 500))).toBe('open');
  expect(await endOf(writer.append('t', ids('b'), 1))).toEqual(['overloaded', 'not-done']);
  await store.release();
  expect(await endOf(writer.append('s', ids('c'), 30))).toBe('open');
  expect(await endOf(writer.append('s', ids('d'), 21))).toEqual(['overloaded', 'not-done']);
  expect(await endOf(writer.append('s', ids('d'), 20))).toBe('open');
  expect(await endOf(writer.append('t', ids('e'), 50))).toBe('open');
  expect(await endOf(writer.append('u', ids('f'), 1))).toEqual(['overloaded', 'not-done']);
  expect(queued).toEqual([3, 100]);
});

test('RLY-4: a round ends at its bounds, and a large push is never cut', async () => {
  const writer = open({ bytesMax: 1e9 });
  void writer.append('s', ids('a'), 1);
  void writer.append('s', someOps(2500, 'b'), 1);
  void writer.append('s', someOps(2500, 'c'), 1);
  void writer.append('s', someOps(5000, 'd'), 1);
  void writer.append('s', ids('e'), 20 * 1024 * 1024);
  void writer.append('s', ids('f'), 1);
  for (let i = 0; i < 7; i++) {
    await settled();
    await store.release();
  }
  expect(store.rounds.map((round) => round.split(' ').length - 1)).toEqual([1, 2500, 2500, 5000, 1, 1]);
});

test('RLY-4: with joining off every push is an append of its own', async () => {
  const writer = open({ roundPushesMax: 1 });
  for (const id of ['a', 'b', 'c']) void writer.append('s', ids(id), 1);
  for (let i = 0; i < 3; i++) await store.release();
  expect(store.rounds).toEqual(['s: a', 's: b', 's: c']);
});

describe('RLY-8: where a transaction of the store takes 3 ops', () => {
  // kills: push-round.ts: Math.min(left, room) => left
  test('each round is filled with 3, from one push or several, and a push is answered after its last', async () => {
    const writer = open({ transactionOps: 3 });
    const a = writer.append('s', ids('a1', 'a2', 'a3', 'a4'), 1);
    const b = writer.append('s', ids('b1'), 1);
    const c = writer.append('s', ids('c1', 'c2', 'a1'), 1);
    await store.release();
    expect(await endOf(a)).toBe('open');
    await store.release();
    expect([await seqs(a), await seqs(b), await endOf(c)]).toEqual([[1n, 2n, 3n, 4n], [5n], 'open']);
    await store.release();
    expect(await seqs(c)).toEqual([6n, 7n, 1n]);
    expect(store.rounds).toEqual(['s: a1 a2 a3', 's: a4 b1 c1', 's: c2 a1']);
    expect(queued).toEqual([0, 0]);
  });

  // kills: push-round.ts: if (pieces.length > 0 && (pieces.length >= pushesMax || => if (pieces.length > 0 && (
  test('with joining off a round carries one push, whatever room it leaves', async () => {
    const writer = open({ transactionOps: 3, roundPushesMax: 1 });
    for (const push of [ids('a1', 'a2', 'a3', 'a4'), ids('b1')]) void writer.append('s', push, 1);
    for (let i = 0; i < 3; i++) await store.release();
    expect(store.rounds).toEqual(['s: a1 a2 a3', 's: a4', 's: b1']);
  });

  // kills: stream-writer.ts: push.outcomes.length > 0 ? ofTheRest(fault) : fault => fault
  test('OPS-6: a push whose first ops are stored is partly done when a later round fails, and its rest is not tried', async () => {
    const writer = open({ transactionOps: 3 });
    const a = writer.append('s', ids('a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'), 1);
    const b = writer.append('s', ids('b1'), 1);
    store.faults.set(1, new Fault('unavailable', 'told to fail', { retryAfterMs: 7 }));
    for (let i = 0; i < 3; i++) await store.release();
    await expect(a).rejects.toMatchObject({ code: 'unavailable', outcome: 'partly', retryAfterMs: 7 });
    expect(await seqs(b)).toEqual([4n]);
    expect(store.rounds).toEqual(['s: a1 a2 a3', 's: a4 a5 a6', 's: b1']);
    expect(queued).toEqual([0, 0]);
  });

  // kills: stream-writer.ts: fault.outcome === 'partly' ? withOutcome(fault, 'unknown') : fault => fault
  test('OPS-6: of several pushes that share a round which is partly stored, none knows of itself', async () => {
    const writer = open({ transactionOps: 3 });
    void writer.append('s', ids('x'), 1);
    const pushes = [ids('a'), ids('b'), ids('c1', 'c2', 'c3', 'c4')].map((ops) => writer.append('s', ops, 1));
    const ends = Promise.all(pushes.map((push) => push.catch(({ outcome }: Fault) => outcome)));
    for (const n of [1, 2]) store.faults.set(n, new Fault('unavailable', 'told to fail', { outcome: 'partly' }));
    for (let i = 0; i < 3; i++) await store.release();
    expect(await ends).toEqual(['unknown', 'unknown', 'unknown']);
  });

  // kills: stream-writer.ts: if (piece.push.done) this.#leave(piece.push); => if (false) this.#leave(piece.push);
  test('RLY-12: the push with a bad op fails alone, and one that gave up meanwhile is not written', async () => {
    const writer = open({ transactionOps: 3 });
    void writer.append('s', ids('x'), 1);
    const [a, bad] = [writer.append('s', ids('a'), 1), writer.append('s', ids('bad'), 1)];
    time.advance(10_000);
    const c = writer.append('s', ids('c', 'd', 'e'), 1);
    await store.release();
    time.advance(10_000);
    for (let i = 0; i < 5; i++) await store.release();
    expect(await Promise.all([a, bad].map(endOf))).toEqual(Array(2).fill(['deadline', 'unknown']));
    expect(await seqs(c)).toEqual([2n, 3n, 4n]);
    expect(store.rounds).toEqual(['s: x', 's: a bad c', 's: c', 's: d e']);
  });

  // kills: stream-writer.ts: if (round.pieces.every((piece) => piece.push.done)) round.unwanted.abort(); => void round;
  // kills: stream-writer.ts: round.pieces.every((piece) => piece.push.done) => true
  test('RLY-10: a round that nobody waits for is told so, and one that somebody waits for goes on', async () => {
    const writer = open({ transactionOps: 3 });
    const a = writer.append('s', ids('a1', 'a2', 'a3', 'a4'), 1);
    await store.release();
    time.advance(10_000);
    const b = writer.append('s', ids('b1'), 1);
    time.advance(10_000);
    expect(await endOf(a)).toEqual(['deadline', 'unknown']);
    expect(store.unwanted.map((signal) => signal?.aborted)).toEqual([false, true]);
    await store.release();
    const c = writer.append('s', ids('c1'), 1);
    time.advance(10_000);
    expect(await endOf(b)).toEqual(['deadline', 'unknown']);
    await store.release();
    await store.release();
    expect(await seqs(c)).toEqual([6n]);
    expect(store.unwanted.map((signal) => signal?.aborted)).toEqual([false, true, true, false]);
  });
});

test('RLY-3, RLY-4, RLY-5: whatever is joined, seqs are dense, pushes keep their order, and every answer is true', async () => {
  const push = fc.record({
    stream: fc.constantFrom('s', 't'),
    ops: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 4 }),
  });
  const step = fc.oneof(push, fc.constant('release' as const));
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.option(fc.integer({ min: 1, max: 5 })),
      async (steps, cut) => {
        store = new GatedStore();
        const writer = open({ transactionOps: cut ?? undefined });
        const pushed: { stream: string; ops: Op[]; outcomes: Promise<readonly AppendOutcome[]> }[] = [];
        for (const one of steps) {
          if (one === 'release') await store.release();
          else {
            const ops = ids(...one.ops.map(String));
            pushed.push({ stream: one.stream, ops, outcomes: writer.append(one.stream, ops, 1) });
          }
        }
        for (let i = 0; i <= 4 * steps.length; i++) await store.release();
        const model = new MemoryOpStore();
        for (const { stream, ops, outcomes } of pushed) expect(await outcomes).toEqual(await model.append(stream, ops));
      },
    ),
  );
});
