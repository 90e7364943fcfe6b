import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import { eventReducer } from './event-reducer.ts';
import { FoldOperator } from './fold-operator.ts';
import type { FoldWorker } from './fold-worker.ts';
import type { Reducer } from './reduce.ts';
import { standingOf } from './revisions.ts';
import { Crash, crashing } from './testing/crash.ts';
import { Rig, anEvent, settle } from './testing/rig.ts';

const A = '0.a';

/** The event reducer as a later build has it: it says so in the value of each document. */
function revised(revision: number): Reducer {
  return {
    domain: 'event',
    revision,
    reduce(sequenced) {
      const reduced = eventReducer.reduce(sequenced);
      if (reduced.kind !== 'folded') return reduced;
      const changes = reduced.changes.map((change) =>
        change.effect === 'register' ? { ...change, value: `"r${revision}"` } : change,
      );
      return { kind: 'folded', changes };
    },
  };
}

function events(n: number, from = 1) {
  return Array.from({ length: n }, (_, i) => anEvent(`e${from + i}`, from + i));
}

async function folded(n: number, revision = 1): Promise<Rig> {
  const rig = new Rig();
  await rig.append(A, ...events(n));
  await rig.ring(A);
  await settle(rig.worker({ reducers: [revised(revision)] }));
  return rig;
}

async function values(rig: Rig): Promise<string[]> {
  return [...(await rig.bodies(A)).values()].map(({ value }) => value);
}

async function ticks(worker: FoldWorker, n: number): Promise<void> {
  for (let i = 0; i < n; i++) await worker.tick();
}

function operatorOf(rig: Rig, worker: FoldWorker, reducers: readonly Reducer[]): FoldOperator {
  return new FoldOperator({ worker, opStore: rig.opStore, views: rig.views, reducers, clock: rig.time });
}

/** A mark at each look: its epoch, how far it is, and what a reader sees of the stream. */
async function seen(rig: Rig) {
  const mark = await rig.views.mark(A);
  return { epoch: mark?.epoch, through: mark?.watermark.foldedThrough, values: await values(rig) };
}

describe('a stream of which nothing is folded', () => {
  // kills: stream-folder.ts: (await this.#begin(stream)) => { watermark: emptyWatermark(), epoch: FIRST_EPOCH, version: 0, revisions: this.#options.revisions }
  it('FLD-5, FLD-7: is folded by one of two workers with different reducers alone, from its first row on', async () => {
    const rig = new Rig();
    await rig.append(A, ...events(3));
    await rig.ring(A);
    let resume = () => {};
    const paused = new Promise<void>((resolve) => (resume = resolve));
    /** A worker of the older build, which is slow between its first look and its first row. */
    class SlowViews extends MemoryViews {
      override async apply(...args: Parameters<MemoryViews['apply']>) {
        await paused;
        return super.apply(...args);
      }
    }
    const older = rig.worker({ reducers: [revised(1)], views: new SlowViews(rig.viewsStore) });
    const olderTick = older.tick();
    await settle(rig.worker({ reducers: [revised(2)] }));
    resume();
    await olderTick;
    await settle(rig.worker({ reducers: [revised(2)] }));
    // The first epoch was begun with the mark of the older one, and stays its own.
    expect(await seen(rig)).toEqual({ epoch: 2, through: 3n, values: Array(3).fill('"r2"') });
  });
});

describe('how revisions stand to each other', () => {
  const of = (revisions: Record<string, number>) => new Map(Object.entries(revisions));

  it('FLD-7: higher in some domain and lower in none is newer; a domain that one side has alone counts as lower', () => {
    expect(standingOf(of({ a: 1 }), of({ a: 1 }))).toBe('same');
    expect(standingOf(of({ a: 2, b: 0 }), of({ a: 1, b: 0 }))).toBe('newer');
    expect(standingOf(of({ a: 1, b: 0 }), of({ a: 1 }))).toBe('newer');
    expect(standingOf(of({ a: 1 }), of({ a: 1, b: 0 }))).toBe('older');
    expect(standingOf(of({ a: 0 }), of({ a: 1 }))).toBe('older');
    expect(standingOf(of({ a: 2 }), of({ a: 1, b: 0 }))).toBe('mixed');
    expect(standingOf(of({}), of({}))).toBe('same');
  });
});

describe('a worker with newer reducers', () => {
  it('FLD-7: folds a stream anew beside what readers see, and switches when it has all of that', async () => {
    const rig = await folded(30);
    await rig.append(A, ...events(1, 31));
    await rig.ring(A);
    const worker = rig.worker({ reducers: [revised(2)] });
    const looks = [await seen(rig)];
    for (let i = 0; i < 12; i++) {
      await worker.tick();
      looks.push(await seen(rig));
    }
    const old = Array.from({ length: 30 }, () => '"r1"');
    for (const look of looks) {
      if (look.epoch === 1) expect(look.values).toEqual(old);
      else expect([look.epoch, look.values.length, new Set(look.values)]).toEqual([2, 31, new Set(['"r2"'])]);
    }
    expect([looks[2]?.epoch, looks.at(-1)?.epoch]).toEqual([1, 2]);
    expect(rig.epochs).toEqual(['build', 'switched']);
    expect(rig.counted).toMatchObject({ folded: 30, replayed: 31 });
    expect(rig.changes.checkpoint).toBe(rig.changes.changes.length);
  });

  it('FLD-7: goes on with a build that another worker began, and that nothing but the views remember', async () => {
    const rig = await folded(30);
    await rig.ring(A);
    await ticks(rig.worker({ reducers: [revised(2)] }), 2);
    const build = await rig.views.build(A);
    expect(build?.watermark.foldedThrough).toBeGreaterThan(0n);
    await rig.ring(A);
    await ticks(rig.worker({ reducers: [revised(2)] }), 10);
    expect(await rig.views.mark(A)).toMatchObject({ epoch: build?.epoch, watermark: { foldedThrough: 30n } });
    expect(rig.epochs).toEqual(['build', 'switched']);
  });

  // kills: sweep.ts: standingOf(revisions, mark.revisions) === 'newer' => false
  it('FLD-7: folds anew also what rests: a feed that goes on at its checkpoint names no such stream', async () => {
    const rig = await folded(30);
    expect(rig.changes.checkpoint).toBe(rig.changes.changes.length);
    await ticks(rig.worker({ reducers: [revised(2)], sweepMs: 60_000 }), 30);
    expect(await seen(rig)).toMatchObject({ epoch: 2, through: 30n });
    await ticks(rig.worker({ reducers: [revised(1)], sweepMs: 60_000 }), 5);
    expect(rig.epochs).toEqual(['build', 'switched']);
  });

  // kills: build-folder.ts: if (standing !== 'newer') return 'others'; => if (standing === null) return 'others';
  it('FLD-7: gives up a build for reducers that are outdated by now, and leaves one for newer ones alone', async () => {
    const rig = await folded(30);
    await rig.ring(A);
    await rig.worker({ reducers: [revised(2)] }).tick();
    await rig.ring(A);
    await rig.worker({ reducers: [revised(3)] }).tick();
    expect((await rig.views.build(A))?.epoch).toBe(3);
    await rig.ring(A);
    expect(rig.epochs).toEqual(['build', 'abandoned', 'build']);
    await ticks(rig.worker({ reducers: [revised(2)] }), 5);
    expect((await rig.views.build(A))?.epoch).toBe(3);
  });

  // kills: build-folder.ts: if (shown && !knowsSeqs(mark.watermark, shown.watermark)) => if (false)
  it('FLD-7: does not switch before it has what the shown epoch folded ahead', async () => {
    const rig = new Rig();
    rig.opStore.holdsHoles = true;
    const seqs = [1, ...Array.from({ length: 30 }, (_, i) => i + 3)];
    for (const seq of seqs) rig.opStore.plant(A, BigInt(seq), anEvent(`e${seq}`, seq));
    await rig.ring(A);
    await ticks(rig.worker({ reducers: [revised(1)] }), 30);
    expect(await values(rig)).toHaveLength(31);
    const worker = rig.worker({ reducers: [revised(2)] });
    for (let i = 0; i < 30; i++) {
      await worker.tick();
      expect(await values(rig)).toHaveLength(31);
    }
    expect(await rig.views.mark(A)).toMatchObject({ epoch: 2, watermark: { foldedThrough: 1n } });
  });

  it('FLD-7: removes the rows of the epoch that was left, part by part', async () => {
    const rig = await folded(30);
    await rig.ring(A);
    const worker = rig.worker({ reducers: [revised(2)] });
    await settle(worker);
    await ticks(worker, 5);
    expect(rig.viewsStore.rows.get(JSON.stringify([A, 1, 'events']))?.size ?? 0).toBe(0);
    expect(worker.status().chores).toBe(0);
  });

  it('FLD-7, FLD-1: does not fold a truncated stream anew, which would lose what the view has of it', async () => {
    const rig = await folded(5);
    rig.opStore.truncate(A, 3n);
    await rig.append(A, ...events(1, 6));
    await rig.ring(A);
    await ticks(rig.worker({ reducers: [revised(2)] }), 5);
    expect(await seen(rig)).toMatchObject({ epoch: 1, through: 5n });
    expect(rig.logged.map(({ message }) => message)).toContain(
      'the stream cannot be folded anew: ops were removed from its log',
    );
  });
});

describe('a worker whose reducers are outdated', () => {
  // kills: stream-folder.ts: if (standing === 'same') return this.#foldShown(stream, recent, turn); => if (standing !== 'newer') return this.#foldShown(stream, recent, turn);
  it('FLD-7: folds nothing of a stream of newer ones, tells it once, and lets no checkpoint pass what others have to fold', async () => {
    const rig = await folded(3, 2);
    await rig.append(A, ...events(2, 4));
    await rig.ring(A);
    const old = rig.worker({ reducers: [revised(1)] });
    await ticks(old, 10);
    expect(await seen(rig)).toMatchObject({ epoch: 1, through: 3n });
    expect(rig.changes.checkpoint).toBe(1);
    expect(old.status().stuck).toMatchObject([{ stream: A, kind: 'others' }]);
    expect(rig.logged.filter(({ message }) => message.includes('not folded here'))).toHaveLength(1);
    await settle(rig.worker({ reducers: [revised(2)] }));
    await settle(old);
    expect(await values(rig)).toEqual(Array.from({ length: 5 }, () => '"r2"'));
  });

  it('FLD-5, F14: that was paused in the old epoch changes nothing that readers see after a switch', async () => {
    const rig = await folded(4);
    await rig.append(A, ...events(4, 5));
    await rig.ring(A);
    let resume = () => {};
    const paused = new Promise<void>((resolve) => (resume = resolve));
    class PausedViews extends MemoryViews {
      override async apply(...args: Parameters<MemoryViews['apply']>) {
        await paused;
        return super.apply(...args);
      }
    }
    const slow = rig.worker({ reducers: [revised(1)], views: new PausedViews(rig.viewsStore) });
    const slowTick = slow.tick();
    await settle(rig.worker({ reducers: [revised(2)] }));
    const before = await seen(rig);
    expect(before).toMatchObject({ epoch: 2, through: 8n });
    resume();
    await slowTick;
    await ticks(slow, 5);
    expect(await seen(rig)).toEqual(before);
    expect(await rig.views.mark(A)).toMatchObject({ epoch: 2, revisions: new Map([['event', 2]]) });
  });

  it('FLD-7: while both builds run the old one keeps what readers see fresh, and neither loses an op (rolling upgrade)', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = new SeededRandom(seed);
      const rig = await folded(10);
      const workers = [1, 2, 2, 1].map((revision) => rig.worker({ reducers: [revised(revision)], feed: rig.feed() }));
      let through = 10n;
      for (let n = 11; n <= 60; n++) {
        await rig.append(A, ...events(1, n));
        await rig.ring(A);
        const some = workers.filter(() => random.fraction() < 0.5);
        await Promise.all(some.map((worker) => worker.tick()));
        const look = await seen(rig);
        expect(look.through! >= through).toBe(true);
        through = look.through!;
        expect(new Set(look.values).size).toBe(1);
        expect(look.values.length).toBeGreaterThanOrEqual(Number(through));
      }
      await settle(workers[1]!);
      expect(await seen(rig)).toEqual({ epoch: 2, through: 60n, values: Array.from({ length: 60 }, () => '"r2"') });
    }
  });
});

describe('a rebuild that an operator asks for', () => {
  it('F25, F26: while ops arrive equals a whole fold, is counted as replayed, and shows no half of a view', async () => {
    const rig = await folded(40, 0);
    const reducers = [eventReducer];
    const worker = rig.worker();
    await rig.ring(A);
    await ticks(worker, 3);
    const before = rig.counted.folded;
    expect(await operatorOf(rig, worker, reducers).rebuild(A)).toBe(2);
    let least = 40;
    for (let n = 41; n <= 140; n++) {
      await rig.append(A, anEvent(`e${n % 50}`, n));
      await rig.ring(A);
      await worker.tick();
      const { size } = await rig.bodies(A);
      expect(size).toBeGreaterThanOrEqual(least);
      least = size;
    }
    await settle(worker);
    await ticks(worker, 100);
    expect(await rig.views.mark(A)).toMatchObject({ epoch: 2, watermark: { foldedThrough: 140n } });
    expect(await rig.bodies(A)).toEqual(await rig.fold(A));
    expect(rig.counted.folded - before).toBeLessThanOrEqual(100);
    expect(rig.counted.replayed).toBeGreaterThanOrEqual(40);
  });

  it('FLD-7: is gone on with by a worker that starts later, without a doorbell', async () => {
    const rig = await folded(9, 0);
    const nobody = { look: async () => {}, status: () => rig.worker().status() };
    const operator = new FoldOperator({
      worker: nobody,
      opStore: rig.opStore,
      views: rig.views,
      reducers: [eventReducer],
      clock: rig.time,
    });
    await operator.rebuild(A);
    const worker = rig.worker({ sweepMs: 1000 });
    await ticks(worker, 20);
    expect(await rig.views.mark(A)).toMatchObject({ epoch: 2, watermark: { foldedThrough: 9n } });
  });

  it('FLD-7: is refused where it cannot be, with the reason', async () => {
    const rig = await folded(3, 1);
    const worker = rig.worker({ reducers: [revised(1)] });
    await expect(operatorOf(rig, worker, [revised(1)]).rebuild('unknown')).rejects.toMatchObject({ code: 'not_found' });
    await expect(operatorOf(rig, worker, [revised(0)]).rebuild(A)).rejects.toThrow('of other reducers');
    const operator = operatorOf(rig, worker, [revised(1)]);
    await operator.rebuild(A);
    await expect(operator.rebuild(A)).rejects.toThrow('built already');
    await ticks(worker, 20);
    rig.opStore.truncate(A, 2n);
    await expect(operator.rebuild(A)).rejects.toThrow('ops were removed');
  });

  it('FLD-7: of all streams begins each that can be, and says how many', async () => {
    const rig = await folded(3, 1);
    for (const stream of ['0.b', '0.c']) {
      await rig.append(stream, ...events(2));
      await rig.ring(stream);
    }
    const worker = rig.worker({ reducers: [revised(1)] });
    await settle(worker);
    const operator = operatorOf(rig, worker, [revised(1)]);
    await operator.rebuild('0.b');
    expect(await operator.rebuildAll(null, 2)).toEqual({ streams: [A], next: '0.b' });
    expect(await operator.rebuildAll('0.b', 2)).toEqual({ streams: ['0.c'], next: null });
    await settle(worker);
    await ticks(worker, 30);
    for (const stream of [A, '0.b', '0.c']) expect((await rig.views.mark(stream))?.epoch).toBe(2);
  });
});

describe('what an operator sees', () => {
  it('R11: of each stream is its lag, its head, the age of its oldest hole and what is built', async () => {
    const rig = new Rig();
    rig.opStore.holdsHoles = true;
    for (const seq of [1, 3, 5]) rig.opStore.plant(A, BigInt(seq), anEvent(`e${seq}`, seq));
    await rig.append('0.b', ...events(2));
    for (const stream of [A, '0.b']) await rig.ring(stream);
    const worker = rig.worker();
    await ticks(worker, 5);
    rig.time.advance(5000);
    const operator = operatorOf(rig, worker, [eventReducer]);
    const { streams, next } = await operator.streams(null, 10);
    expect(next).toBeNull();
    expect(streams.map(({ stream, head, lagOps, build }) => [stream, head, lagOps, build])).toEqual([
      [A, 5n, 2n, null],
      ['0.b', 2n, 0n, null],
    ]);
    expect(streams[0]?.oldestHoleMs).toBeGreaterThanOrEqual(5000);
    expect(streams[1]?.oldestHoleMs).toBeNull();
    expect((await operator.holes(null, 10)).streams.map(({ stream }) => stream)).toEqual([A]);
    expect(await operator.holes(null, 1)).toMatchObject({ streams: [{ stream: A }], next: A });
    expect(await operator.holes(A, 1)).toMatchObject({ streams: [], next: '0.b' });
    expect(operator.status()).toMatchObject({ pending: 1, revisions: new Map([['event', 0]]) });
  });
});

describe('FLD-7: after a crash at any call of a rebuild', () => {
  it.each(['before', 'after'] as const)('readers see one whole epoch or the other (%s its effect)', async (when) => {
    for (let at = 1, isCrash = true; isCrash; at++) {
      const rig = await folded(9);
      await rig.append(A, ...events(2, 10));
      await rig.ring(A);
      const crash = new Crash(at, when);
      const check = async () => {
        const look = await seen(rig);
        expect(look.values.length).toBeGreaterThanOrEqual(9);
        expect(new Set(look.values).size).toBe(1);
      };
      const mortal = rig.worker({
        reducers: [revised(2)],
        opStore: crashing(rig.opStore, crash, check),
        views: crashing(rig.views, crash, check),
      });
      for (let tick = 0; tick < 30 && !crash.over; tick++) await mortal.tick();
      isCrash = crash.over;
      const next = rig.worker({ reducers: [revised(2)], feed: rig.feed() });
      await settle(next);
      await ticks(next, 10);
      expect(await seen(rig)).toMatchObject({ through: 11n, values: Array.from({ length: 11 }, () => '"r2"') });
    }
  });
});
