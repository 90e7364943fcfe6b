import { Fault } from '@tidemark/libs-kernel';
import type { ParkedOp, ViewChange } from '@tidemark/libs-views-contract';
import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import { eventReducer } from './event-reducer.ts';
import { FoldOperator } from './fold-operator.ts';
import type { Reducer } from './reduce.ts';
import { Rig, SmallBatchFeed, anEvent, settle } from './testing/rig.ts';

const A = '0.a';
const B = '0.b';

/** Rows that hold no document whose id begins with `huge`, as a store has its bounds. */
class BoundedViews extends MemoryViews {
  applied = 0;

  override async apply(stream: string, epoch: number, changes: readonly ViewChange[]): Promise<void> {
    this.applied++;
    for (const change of changes) {
      if (change.id.startsWith('huge')) throw new Fault('too_large', `document ${change.id}: larger than 400 KB`);
      await super.apply(stream, epoch, [change]);
    }
  }
}

const throwing: Reducer = {
  ...eventReducer,
  reduce(sequenced) {
    if (sequenced.op.targetId === 'poison') throw new TypeError('secret content');
    return eventReducer.reduce(sequenced);
  },
};

function parkedOf(rig: Rig, stream = A): Promise<readonly ParkedOp[]> {
  return rig.views.parked(stream, 1, 0n, 100);
}

const kinds = (ops: readonly ParkedOp[]) => ops.map(({ seq, opId, attempts }) => [seq, opId, attempts]);

describe('a poison op', () => {
  it('FLD-6: that its reducer fails on is parked with the reason, without its content, and holds nothing', async () => {
    const rig = new Rig();
    await rig.append(A, anEvent('e1', 1), anEvent('poison', 2), anEvent('e3', 3));
    await rig.append(B, anEvent('e1', 1));
    for (const stream of [A, B]) await rig.ring(stream);
    await settle(rig.worker({ reducers: [throwing] }));
    expect([await rig.foldedThrough(A), await rig.foldedThrough(B)]).toEqual([3n, 1n]);
    expect([...(await rig.bodies(A)).keys()]).toEqual(['e1', 'e3']);
    expect(await parkedOf(rig)).toEqual([
      {
        seq: 2n,
        opId: 'poison@2',
        reason: 'the reducer failed: TypeError',
        parkedAtMs: expect.any(Number),
        attempts: 1,
      },
    ]);
    expect(JSON.stringify(rig.logged)).not.toContain('secret');
  });

  // kills: op-folder.ts: if (!isNeverTaken(thrown)) throw thrown; => throw thrown;
  it('FLD-6: that the rows can never take is parked alone: those beside it in its page are folded', async () => {
    const rig = new Rig();
    const views = new BoundedViews(rig.viewsStore);
    const ids = ['a', 'b', 'huge1', 'c', 'd', 'e', 'huge2', 'f'];
    await rig.append(A, ...ids.map((id, i) => anEvent(id, i + 1)));
    await rig.ring(A);
    await settle(rig.worker({ views, pageOpsMax: 100 }));
    expect([...(await rig.bodies(A)).keys()]).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(kinds(await parkedOf(rig))).toEqual([
      [3n, 'huge1@3', 1],
      [7n, 'huge2@7', 1],
    ]);
    expect((await parkedOf(rig))[0]?.reason).toBe('document huge1: larger than 400 KB');
    expect(views.applied).toBeLessThan(16);
    expect(rig.counted).toMatchObject({ folded: 6, parked: 2, not_folded: 0 });
  });

  it('FLD-6: that cannot be read is parked by its seq, in a page, at its start, and above a hole', async () => {
    const rig = new Rig();
    const unreadable = { extra: '{"cut' };
    await rig.append(A, anEvent('e1', 1), anEvent('u', 2, unreadable), anEvent('e3', 3), anEvent('u', 4, unreadable));
    rig.opStore.plant(A, 7n, anEvent('u', 7, unreadable));
    rig.opStore.plant(A, 8n, anEvent('e8', 8));
    await rig.ring(A);
    await settle(rig.worker());
    expect(await rig.foldedThrough(A)).toBe(8n);
    expect([...(await rig.bodies(A)).keys()]).toEqual(['e1', 'e3', 'e8']);
    expect(kinds(await parkedOf(rig))).toEqual([
      [2n, null, 1],
      [4n, null, 1],
      [7n, null, 1],
    ]);
    expect((await parkedOf(rig))[0]?.reason).toMatch(/seq 2.*extra/);
  });

  // kills: op-folder.ts: for (const one of poison) await this.#park(stream, epoch, one, attempts); => void attempts;
  it('FLD-6: is parked before the mark passes it', async () => {
    const rig = new Rig();
    const calls: string[] = [];
    class ToldViews extends MemoryViews {
      override async park(stream: string, epoch: number, op: ParkedOp): Promise<void> {
        calls.push('park');
        return super.park(stream, epoch, op);
      }
      override async saveMark(...args: Parameters<MemoryViews['saveMark']>) {
        calls.push(`mark ${args[2].foldedThrough}`);
        return super.saveMark(...args);
      }
    }
    await rig.append(A, anEvent('e1', 1, { value: 'no json' }));
    await rig.ring(A);
    await settle(rig.worker({ views: new ToldViews(rig.viewsStore) }));
    expect(calls).toEqual(['mark 0', 'park', 'mark 1']);
  });

  it('FLD-6: whose parking fails holds the mark of its stream, and is tried again', async () => {
    const rig = new Rig();
    class FullViews extends MemoryViews {
      isDiskFull = true;
      override async park(stream: string, epoch: number, op: ParkedOp): Promise<void> {
        if (this.isDiskFull) throw new Fault('disk_full', 'full');
        return super.park(stream, epoch, op);
      }
    }
    const views = new FullViews(rig.viewsStore);
    await rig.append(A, anEvent('e1', 1, { value: 'no json' }));
    await rig.ring(A);
    const worker = rig.worker({ views });
    for (let i = 0; i < 5; i++) await worker.tick();
    expect([await rig.foldedThrough(A), rig.changes.checkpoint]).toEqual([0n, 0]);
    views.isDiskFull = false;
    await settle(worker);
    expect([await rig.foldedThrough(A), rig.changes.checkpoint]).toEqual([1n, 1]);
  });

  // kills: fold-worker.ts: nowMs - task.heardAtMs >= ALARM_MS && !task.isAlarmed => false
  it('F16: holds no other stream of its feed; a stream that fails for half a day is told of, once', async () => {
    const rig = new Rig();
    class DownViews extends MemoryViews {
      override async apply(stream: string, epoch: number, changes: readonly ViewChange[]): Promise<void> {
        if (stream === A) throw new Fault('unavailable', 'down');
        return super.apply(stream, epoch, changes);
      }
    }
    await rig.append(A, anEvent('e1', 1));
    await rig.ring(A);
    const worker = rig.worker({
      views: new DownViews(rig.viewsStore),
      feed: new SmallBatchFeed(rig.changes, rig.time),
    });
    await worker.tick();
    for (let hour = 1; hour <= 20; hour++) {
      await rig.append(B, anEvent('e1', hour));
      await rig.ring(B);
      rig.time.advance(3_600_000);
      await worker.tick();
      expect(await rig.foldedThrough(B)).toBe(BigInt(hour));
    }
    expect(worker.status().oldestMs).toBeGreaterThanOrEqual(20 * 3_600_000);
    expect(rig.logged.filter(({ message }) => message.includes('half a day'))).toHaveLength(1);
  });
});

describe('an operator', () => {
  /** Two parked ops: one that no build can fold, and one that a mended reducer can. */
  async function withParked() {
    const rig = new Rig();
    await rig.append(A, anEvent('e1', 1), anEvent('poison', 2), anEvent('e3', 3, { value: 'no json' }));
    await rig.ring(A);
    const worker = rig.worker({ reducers: [throwing] });
    await settle(worker);
    const tell = (fields: object, message: string) => void rig.logged.push({ fields, message });
    const { opStore, views, time: clock } = rig;
    const log = { info: tell, warn: tell };
    const operator = new FoldOperator({ worker, opStore, views, reducers: [eventReducer], clock, log });
    return { rig, operator };
  }

  it('FLD-6: lists what is parked, page by page', async () => {
    const { operator } = await withParked();
    expect(kinds(await operator.parked(A, 0n, 1))).toEqual([[2n, 'poison@2', 1]]);
    expect(kinds(await operator.parked(A, 2n, 5))).toEqual([[3n, 'e3@3', 1]]);
    expect(await operator.parked('unknown', 0n, 5)).toEqual([]);
  });

  // kills: fold-operator.ts: await views.unpark(stream, epoch, seq); => void seq;
  it('FLD-6: retries one, which is folded if it can be, and parked with one attempt more if not', async () => {
    const { rig, operator } = await withParked();
    expect(await operator.retry(A, 2n)).toEqual({ kind: 'folded' });
    expect([...(await rig.bodies(A)).keys()]).toEqual(['e1', 'poison']);
    expect(await operator.retry(A, 3n)).toEqual({ kind: 'parked', reason: expect.stringContaining('json') });
    expect(kinds(await operator.parked(A, 0n, 5))).toEqual([[3n, 'e3@3', 2]]);
    expect(await rig.foldedThrough(A)).toBe(3n);
  });

  it('FLD-6: retries one that is gone from the log, and learns that', async () => {
    const { rig, operator } = await withParked();
    await rig.opStore.erase(A);
    expect(await operator.retry(A, 2n)).toEqual({ kind: 'parked', reason: 'the op is not in the log any more' });
  });

  it('FLD-6: drops one, which the log still holds', async () => {
    const { rig, operator } = await withParked();
    await operator.drop(A, 2n);
    expect(kinds(await operator.parked(A, 0n, 5))).toEqual([[3n, 'e3@3', 1]]);
    expect(await rig.opStore.seqOf(A, 'poison@2')).toBe(2n);
    expect(rig.logged.at(-1)).toMatchObject({ fields: { seq: '2' }, message: expect.stringContaining('dropped') });
  });

  // kills: fold-operator.ts: if (standingOf(this.#revisions, revisions) !== 'same') throw ofOthers(stream); => void revisions;
  it('FLD-7: retries nothing in a view of other reducers, newer or older: its rows would be of both', async () => {
    const { rig } = await withParked();
    const { opStore, views, time: clock } = rig;
    const worker = rig.worker();
    for (const revision of [-1, 1]) {
      const reducers = [{ ...eventReducer, revision: eventReducer.revision + revision }];
      const operator = new FoldOperator({ worker, opStore, views, reducers, clock });
      await expect(operator.retry(A, 2n)).rejects.toMatchObject({ code: 'conflict' });
    }
    expect([...(await rig.bodies(A)).keys()]).toEqual(['e1']);
    expect(kinds(await parkedOf(rig))).toContainEqual([2n, 'poison@2', 1]);
  });

  it('FLD-6: is told of what is not parked', async () => {
    const { operator } = await withParked();
    for (const call of [() => operator.retry(A, 1n), () => operator.drop(A, 9n), () => operator.drop('unknown', 1n)])
      await expect(call()).rejects.toMatchObject({ code: 'not_found' });
  });
});
