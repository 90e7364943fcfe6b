import { MemoryFeed } from '@tidemark/libs-feed-contract/testing';
import { Fault, type Tracer } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { ViewChange } from '@tidemark/libs-views-contract';
import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import { HoldingOpStore, REVISIONS, Rig, SmallBatchFeed, anEvent, settle } from './testing/rig.ts';
import { emptyWatermark } from './watermark.ts';

const A = '0.a';
const B = '0.b';

/** Views that refuse the rows of one stream. */
class FailingViews extends MemoryViews {
  failing: string | null = A;

  override async apply(stream: string, epoch: number, changes: readonly ViewChange[]): Promise<void> {
    if (stream === this.failing) throw new Fault('unavailable', 'busy');
    return super.apply(stream, epoch, changes);
  }
}

function events(n: number, from = 1) {
  return Array.from({ length: n }, (_, i) => anEvent(`e${from + i}`, from + i));
}

describe('a fold worker', () => {
  it('FLD-8: folds what a doorbell names into documents, through the head', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(5), anEvent('e1', 9));
    await rig.ring(A);
    await settle(rig.worker());
    expect(await rig.foldedThrough(A)).toBe(6n);
    const bodies = await rig.bodies(A);
    expect([...bodies.keys()]).toEqual(['e1', 'e2', 'e3', 'e4', 'e5']);
    expect(bodies.get('e1')?.value).toBe('{"v":9}');
    expect(rig.counted).toMatchObject({ folded: 6, not_folded: 0, parked: 0 });
  });

  it('F19: starts a stream without a mark at its first op, whatever head the doorbell names', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(4));
    rig.changes.announce(A, 4n);
    await settle(rig.worker());
    expect((await rig.bodies(A)).size).toBe(4);
  });

  it('goes on at its mark after a restart, and reads nothing below it', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(3));
    await rig.ring(A);
    await settle(rig.worker());
    await rig.append(A, ...events(2, 4));
    await rig.ring(A);
    const asked: bigint[] = [];
    class AskedOpStore extends HoldingOpStore {
      override read(stream: string, after: bigint, limit: number) {
        asked.push(after);
        return super.read(stream, after, limit);
      }
    }
    await settle(rig.worker({ opStore: new AskedOpStore(rig.opLog) }));
    expect(asked).toEqual([3n]);
    expect((await rig.bodies(A)).size).toBe(5);
  });

  it('a doorbell that rings for folded ops reads no op', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(2));
    await rig.ring(A);
    const worker = rig.worker();
    await settle(worker);
    await rig.ring(A);
    rig.changes.announce(A, 1n);
    expect(await worker.tick()).toMatchObject({ ops: 0, served: 1 });
    expect(rig.counted.folded).toBe(2);
  });

  // kills: fold-worker.ts: (kind === 'served' && task.head > head) => false
  it('FLD-3: a look that is asked for while the stream has its turn is not lost with the turn', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(1));
    await rig.ring(A);
    let isFirst = true;
    const opStore = new (class extends HoldingOpStore {
      override async read(stream: string, after: bigint, limit: number, bytesMax?: number) {
        const page = await super.read(stream, after, limit, bytesMax);
        if (isFirst) {
          isFirst = false;
          await rig.append(A, ...events(1, 2));
          await worker.look(A);
        }
        return page;
      }
    })(rig.opLog);
    const worker = rig.worker({ opStore });
    await settle(worker);
    expect(await rig.foldedThrough(A)).toBe(2n);
  });

  it('a doorbell for a stream that is gone is served', async () => {
    const rig = new Rig();
    rig.changes.announce('gone', 5n);
    await settle(rig.worker());
    expect(await rig.views.mark('gone')).toBeNull();
  });

  it('passes a seq that the log proved never to have been written', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(2));
    rig.opStore.plant(A, 5n, anEvent('e5', 5));
    await rig.ring(A);
    await settle(rig.worker());
    expect(await rig.foldedThrough(A)).toBe(5n);
  });

  // kills: fold-worker.ts: if (clock.monotonic() - beganAtMs >= TURNS_MS) return; => void beganAtMs;
  it('FLD-5: the feed is read on while much is to be folded, and takes the worker for no stuck one', async () => {
    const rig = new Rig();
    const streams = Array.from({ length: 40 }, (_, i) => `0.s${i}`);
    for (const stream of streams) {
      await rig.append(stream, ...events(1));
      await rig.ring(stream);
    }
    const views = new (class extends MemoryViews {
      override async apply(...args: Parameters<MemoryViews['apply']>) {
        rig.time.advance(1000);
        return super.apply(...args);
      }
    })(rig.viewsStore);
    const readAtMs: number[] = [];
    const feed = new (class extends MemoryFeed {
      override async read(max: number, waitMs: number, signal?: AbortSignal) {
        readAtMs.push(rig.time.monotonic());
        return super.read(max, waitMs, signal);
      }
    })(rig.changes, rig.time);
    await settle(rig.worker({ views, feed }));
    for (const stream of streams) expect(await rig.foldedThrough(stream)).toBe(1n);
    const awayMs = readAtMs.slice(1).map((atMs, i) => atMs - (readAtMs[i] ?? 0));
    expect(Math.max(...awayMs)).toBeLessThan(10_000);
  });

  it('a long stream gives way to the others after a few pages', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(30));
    await rig.append(B, ...events(1));
    await rig.ring(A);
    await rig.ring(B);
    const worker = rig.worker();
    await worker.tick();
    expect([await rig.foldedThrough(A), await rig.foldedThrough(B)]).toEqual([8n, 1n]);
    expect(rig.changes.checkpoint).toBe(0);
    expect(worker.status()).toMatchObject({ pending: 1, lagOps: 22n, heldOps: 0n, stuck: [] });
    await settle(worker);
    expect(await rig.foldedThrough(A)).toBe(30n);
    expect(rig.changes.checkpoint).toBe(2);
  });

  it('warns when the log ends below a mark, which a replaced log would do', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(1));
    await rig.views.saveMark(A, 1, { ...emptyWatermark(), foldedThrough: 7n }, 0, REVISIONS);
    await rig.ring(A);
    await settle(rig.worker());
    expect(rig.logged).toEqual([
      {
        fields: { stream: A, foldedThrough: '7', head: '1' },
        message: expect.stringContaining('was the log replaced?'),
      },
    ]);
  });

  it('folds into the epoch of the stored mark', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(1));
    await rig.views.startBuild(A, REVISIONS);
    await rig.views.switchTo(A, 2);
    await rig.ring(A);
    await settle(rig.worker());
    expect(await rig.views.mark(A)).toMatchObject({ epoch: 2, watermark: { foldedThrough: 1n } });
    expect((await rig.bodies(A)).size).toBe(1);
  });
});

describe('an op that the log does not show yet', () => {
  it('F2: holds the mark of its stream, no other stream and no time, and is folded as soon as it is shown', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(3));
    await rig.append(B, ...events(3));
    rig.opStore.unshownFrom.set(A, 2n);
    await rig.ring(A);
    await rig.ring(B);
    const worker = rig.worker();
    for (let tick = 0; tick < 50; tick++) await worker.tick();
    expect([await rig.foldedThrough(A), await rig.foldedThrough(B)]).toEqual([1n, 3n]);
    rig.opStore.unshownFrom.clear();
    await settle(worker);
    expect(await rig.foldedThrough(A)).toBe(3n);
    expect(await rig.bodies(A)).toEqual(await rig.fold(A));
  });

  it.each([2n, 3n, 4n])('R8: on a page boundary or beside it (seq %s) is not passed', async (seq) => {
    const rig = new Rig();
    await rig.append(A, ...events(6));
    rig.opStore.unshownFrom.set(A, seq);
    await rig.ring(A);
    await rig.worker().tick();
    expect(await rig.foldedThrough(A)).toBe(seq - 1n);
  });

  it('R11: shows in the status as held, beside the lag', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(5));
    rig.opStore.unshownFrom.set(A, 2n);
    await rig.ring(A);
    const worker = rig.worker();
    await worker.tick();
    await worker.tick();
    expect(worker.status()).toMatchObject({
      pending: 1,
      lagOps: 4n,
      heldOps: 4n,
      stuck: [{ stream: A, kind: 'held', message: 'seq 2 is not there, and not proved never to come', attempt: 2 }],
    });
  });

  it('FLD-9: keeps the feed from being checkpointed past it', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(2));
    await rig.append(B, ...events(1));
    rig.opStore.unshownFrom.set(A, 2n);
    for (const stream of [B, B, B, B, A, B, B, B, B, B]) await rig.ring(stream);
    const worker = rig.worker();
    for (let tick = 0; tick < 10; tick++) await worker.tick();
    expect(rig.changes.checkpoint).toBe(4);
    rig.opStore.unshownFrom.clear();
    await settle(worker);
    expect(rig.changes.checkpoint).toBe(10);
  });
});

describe('the trace of an op', () => {
  const traceparent = (n: number) => `00-4bf92f3577b34da6a3ce929d0e0e473${n}-00f067aa0ba902b7-01`;
  const traced = (id: string, n: number) => anEvent(id, n, { extra: `{"traceparent":"${traceparent(n)}"}` });

  // kills: epoch-folder.ts: this.#options.ops.fold(stream, epoch, ops), traces) => this.#options.ops.fold(stream, epoch, ops))
  it('OPS-1: goes on in the fold of its page, which is told with every trace that it continues', async () => {
    const rig = new Rig();
    const spans: unknown[] = [];
    const tracer: Tracer = { span: (name, work, parents) => (spans.push([name, parents]), work()) };
    await rig.append(A, traced('e1', 1), traced('e2', 2), anEvent('e3', 3));
    await rig.ring(A);
    await settle(rig.worker({ tracer }));
    expect(spans).toEqual([
      ['fold', [traceparent(1), traceparent(2)]],
      ['fold', []],
    ]);
    expect(await rig.foldedThrough(A)).toBe(3n);
  });

  it('OPS-1: is told with a refusal', async () => {
    const rig = new Rig();
    await rig.append(A, { ...traced('e1', 1), value: '{"cut":' });
    await rig.ring(A);
    await settle(rig.worker());
    expect(rig.logged).toMatchObject([{ fields: { traceparent: traceparent(1) } }]);
  });
});

describe('an op that cannot be folded', () => {
  it('FLD-6: is told with its stream, seq and reason, and holds neither its stream nor another', async () => {
    const rig = new Rig();
    await rig.append(A, anEvent('e1', 1), anEvent('e2', 2, { value: '{"cut":' }), anEvent('e3', 3));
    await rig.ring(A);
    await settle(rig.worker());
    expect(await rig.foldedThrough(A)).toBe(3n);
    expect([...(await rig.bodies(A)).keys()]).toEqual(['e1', 'e3']);
    expect(rig.counted).toMatchObject({ folded: 2, parked: 1 });
    expect(rig.logged).toEqual([
      {
        fields: { stream: A, epoch: 1, seq: '2', opId: 'e2@2', reason: expect.stringContaining('invalid json') },
        message: expect.stringContaining('parked'),
      },
    ]);
  });

  it('of a shape that no reducer declares is counted and passed in silence', async () => {
    const rig = new Rig();
    await rig.append(A, anEvent('e1', 1, { domain: 'other' }), anEvent('e2', 2n ** 62n + 1n));
    await rig.ring(A);
    await settle(rig.worker());
    expect(await rig.foldedThrough(A)).toBe(2n);
    expect(rig.counted).toMatchObject({ folded: 0, not_folded: 2 });
    expect(rig.logged).toEqual([]);
  });
});

describe('a stream whose store fails', () => {
  it('FLD-6: does not stop the others, holds back the checkpoint, and is folded when the store is back', async () => {
    const rig = new Rig();
    const views = new FailingViews(rig.viewsStore);
    await rig.append(A, ...events(1));
    await rig.append(B, ...events(3));
    await rig.ring(A);
    await rig.ring(B);
    const worker = rig.worker({ views });
    for (let tick = 0; tick < 10; tick++) await worker.tick();
    expect([await rig.foldedThrough(A), await rig.foldedThrough(B)]).toEqual([0n, 3n]);
    expect(rig.changes.checkpoint).toBe(0);
    expect(worker.status().stuck).toMatchObject([{ stream: A, kind: 'fault', message: 'busy' }]);
    views.failing = null;
    await settle(worker);
    expect(await rig.foldedThrough(A)).toBe(1n);
    expect(rig.changes.checkpoint).toBe(2);
  });

  it('is tried again after a wait that grows, and ends a longer wait for the feed', async () => {
    const rig = new Rig();
    const views = new FailingViews(rig.viewsStore);
    const waitsMs: number[] = [];
    class AskedFeed extends SmallBatchFeed {
      override read(max: number, waitMs: number) {
        waitsMs.push(waitMs);
        return super.read(max, waitMs);
      }
    }
    const random = { fraction: () => 0.5, bytes: (n: number) => new Uint8Array(n) };
    const worker = rig.worker({ views, random, feed: new AskedFeed(rig.changes, rig.time) });
    await rig.append(A, ...events(1));
    await rig.ring(A);
    for (let tick = 0; tick < 6; tick++) expect((await worker.tick()).stuck).toBe(1);
    expect(waitsMs).toEqual([1000, 50, 100, 200, 400, 800]);
  });

  it('OPS-4: shows a few of many in the status', async () => {
    const rig = new Rig();
    for (let i = 0; i < 40; i++) {
      await rig.append(`s${i}`, ...events(1));
      await rig.ring(`s${i}`);
    }
    class NoViews extends MemoryViews {
      override async apply(): Promise<void> {
        throw new Fault('unavailable', 'down');
      }
    }
    const worker = rig.worker({ views: new NoViews() });
    for (let tick = 0; tick < 10; tick++) await worker.tick();
    expect(worker.status()).toMatchObject({ pending: 40, lagOps: 40n });
    expect(worker.status().stuck).toHaveLength(20);
  });
});

describe('the feed of a fold worker', () => {
  class DownFeed extends SmallBatchFeed {
    isDown = true;

    override async read(max: number, waitMs: number, signal?: AbortSignal) {
      if (this.isDown) throw new Fault('unavailable', 'feed down');
      return super.read(max, waitMs, signal);
    }
  }

  it('that does not answer is reported, while streams heard of before are folded', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(20));
    await rig.ring(A);
    const feed = new DownFeed(rig.changes, rig.time);
    feed.isDown = false;
    const worker = rig.worker({ feed });
    await worker.tick();
    feed.isDown = true;
    const { feedFault, ops } = await worker.tick();
    expect(feedFault).toMatchObject({ code: 'unavailable' });
    expect(ops).toBe(8);
    expect(worker.status().feedFault).toBe(feedFault);
    feed.isDown = false;
    await settle(worker);
    expect(worker.status().feedFault).toBeNull();
  });

  it('is given a position once, and again when the checkpoint failed', async () => {
    const rig = new Rig();
    const given: string[] = [];
    class ForgetfulFeed extends SmallBatchFeed {
      override async checkpoint(position: string): Promise<void> {
        given.push(position);
        if (given.length === 1) throw new Fault('unavailable', 'feed down');
        return super.checkpoint(position);
      }
    }
    await rig.append(A, ...events(1));
    await rig.ring(A);
    const worker = rig.worker({ feed: new ForgetfulFeed(rig.changes, rig.time) });
    for (let tick = 0; tick < 5; tick++) await worker.tick();
    expect(given).toEqual(['1', '1']);
  });

  it('run folds until it is told to stop, and asks a silent feed again after a wait', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(3));
    await rig.ring(A);
    const feed = new DownFeed(rig.changes, rig.time);
    const stop = new AbortController();
    const running = rig.worker({ feed }).run(stop.signal);
    for (let turns = 0; turns < 1000; turns++) {
      await null;
      feed.isDown = rig.time.monotonic() === 0;
    }
    stop.abort();
    await running;
    expect(rig.time.monotonic()).toBeGreaterThan(0);
    expect(await rig.bodies(A)).toEqual(await rig.fold(A));
  });

  it('OPS-1: lets other work of the process go on while a store that never waits is folded', async () => {
    class BusyTime extends ManualTime {
      breaths = 0;

      override monotonic(): number {
        this.advance(1);
        return super.monotonic();
      }

      override async sleep(ms: number): Promise<void> {
        if (ms === 0) this.breaths++;
      }
    }
    const time = new BusyTime();
    const rig = new Rig(time);
    await rig.append(A, ...events(200));
    await rig.ring(A);
    await settle(rig.worker());
    expect(time.breaths).toBeGreaterThan(3);
  });
});
