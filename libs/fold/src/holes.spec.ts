import { I64_MAX } from '@tidemark/libs-wire';
import { HoldingOpStore, Rig, anEvent, settle } from './testing/rig.ts';
import type { FoldWorker } from './fold-worker.ts';

const A = '0.a';
const GRACE_MS = 60_000;

/** A log of the stream that holds those seqs alone, each an event named by its seq. */
async function withOps(seqs: readonly number[], holdsHoles = false): Promise<Rig> {
  const rig = new Rig();
  rig.opStore.holdsHoles = holdsHoles;
  for (const seq of seqs) plant(rig, seq);
  await rig.ring(A);
  return rig;
}

function plant(rig: Rig, seq: number): void {
  rig.opStore.plant(A, BigInt(seq), anEvent(`e${seq}`, seq));
}

async function ticks(worker: FoldWorker, n: number): Promise<void> {
  for (let i = 0; i < n; i++) await worker.tick();
}

/** The seqs whose event is in the view. */
async function folded(rig: Rig): Promise<number[]> {
  return [...(await rig.bodies(A)).keys()].map((id) => Number(id.slice(1))).sort((a, b) => a - b);
}

async function watermark(rig: Rig) {
  return (await rig.views.mark(A))!.watermark;
}

const messages = (rig: Rig) => rig.logged.map(({ message }) => message);

describe('an op that is missing below others', () => {
  it('F1, FLD-2: holds the mark and not the folding: op 3 is in the view while the mark waits at 1 for op 2', async () => {
    const rig = await withOps([1, 2, 3]);
    rig.opStore.unshown.set(A, new Set([2n]));
    const worker = rig.worker();
    await ticks(worker, 3);
    expect(await folded(rig)).toEqual([1, 3]);
    expect(await watermark(rig)).toMatchObject({
      foldedThrough: 1n,
      ahead: [{ from: 3n, to: 3n }],
      holes: [{ from: 2n, to: 2n }],
    });
    expect(worker.status()).toMatchObject({ lagOps: 1n, heldOps: 1n, stuck: [{ stream: A, kind: 'held' }] });
    rig.opStore.unshown.clear();
    await settle(worker);
    expect(await watermark(rig)).toMatchObject({ foldedThrough: 3n, ahead: [], holes: [] });
    expect(await folded(rig)).toEqual([1, 2, 3]);
    expect(rig.seqs).toEqual({ backfilled: 1 });
    expect(messages(rig)).toContain('backfilled: ops came that were missing below others');
  });

  // kills: backlog.ts: if (known.trouble?.kind === 'held') known.dueAtMs = nowMs; => void nowMs;
  it('FLD-2: does not hold what comes above it later, however long it is waited for', async () => {
    const rig = await withOps([1, 2, 3]);
    rig.opStore.unshown.set(A, new Set([2n]));
    const worker = rig.worker();
    await ticks(worker, 20);
    for (const seq of [4, 5, 6]) {
      plant(rig, seq);
      await rig.ring(A);
      await worker.tick();
      expect((await folded(rig)).at(-1)).toBe(seq);
    }
    expect(await rig.foldedThrough(A)).toBe(1n);
  });

  // kills: hole-judge.ts: if (legacyGraceMs <= 0) return { state, ranges: [] }; => void legacyGraceMs;
  it('FLD-2, R17: is never passed by time alone', async () => {
    const rig = await withOps([1, 3], true);
    const worker = rig.worker();
    await worker.tick();
    rig.time.advance(100 * 365 * 86_400_000);
    await ticks(worker, 50);
    expect(await watermark(rig)).toMatchObject({ foldedThrough: 1n, skipped: [] });
  });

  it('FLD-2: is passed when the log proves that nothing will be there, and that is told', async () => {
    const rig = await withOps([1, 3, 4, 9]);
    await settle(rig.worker());
    expect(await rig.foldedThrough(A)).toBe(9n);
    expect(rig.seqs).toEqual({ burned: 5 });
    const told = rig.logged.filter(({ message }) => message === 'the mark passes burned seqs');
    expect(told.map(({ fields }) => fields)).toEqual([
      { stream: A, epoch: 1, from: '2', to: '2', seqs: '1' },
      { stream: A, epoch: 1, from: '5', to: '8', seqs: '4' },
    ]);
  });

  it('FLD-2: at the very start of a stream is one as well', async () => {
    const rig = await withOps([3, 4], true);
    const worker = rig.worker();
    await ticks(worker, 3);
    expect([await rig.foldedThrough(A), await folded(rig)]).toEqual([0n, [3, 4]]);
    for (const seq of [1, 2]) plant(rig, seq);
    await settle(worker);
    expect(await rig.foldedThrough(A)).toBe(4n);
  });

  it('FLD-2: is proved although the op above it was folded long before, once the log can tell', async () => {
    const rig = await withOps([1, 4, 5], true);
    const worker = rig.worker();
    await ticks(worker, 4);
    expect(await watermark(rig)).toMatchObject({ foldedThrough: 1n, ahead: [{ from: 4n, to: 5n }] });
    rig.opStore.holdsHoles = false;
    await settle(worker);
    expect(await rig.foldedThrough(A)).toBe(5n);
    expect(rig.seqs).toEqual({ burned: 2 });
  });

  // kills: look-ahead.ts: ? (attempt * n) % others.length : 0 => ? 0 : 0
  it('FLD-2: is backfilled in any of many holes, though the first stays open', async () => {
    const odd = Array.from({ length: 60 }, (_, i) => 2 * i + 1);
    const rig = await withOps(odd, true);
    const worker = rig.worker({ pageOpsMax: 200 });
    await ticks(worker, 3);
    plant(rig, 80);
    await ticks(worker, 40);
    expect(await folded(rig)).toEqual([...odd, 80].sort((a, b) => a - b));
    expect(await rig.foldedThrough(A)).toBe(1n);
  });
});

describe('the bound on ranges ahead', () => {
  it('OPS-4: ends the folding ahead, in order and told, and the mark and the view lose nothing by it', async () => {
    const even = [2, 4, 6, 8, 10, 12];
    const rig = await withOps(even, true);
    const worker = rig.worker({ rangesMax: 3, pageOpsMax: 10 });
    await ticks(worker, 10);
    expect(await folded(rig)).toEqual([2, 4, 6]);
    expect((await watermark(rig)).ahead).toHaveLength(3);
    expect(rig.counted.bounds).toBeGreaterThan(0);
    expect(messages(rig)).toContain('too many holes: nothing more is folded ahead until some are closed');
    // Above the last range, and touching it: no range more.
    plant(rig, 7);
    await ticks(worker, 10);
    expect(await folded(rig)).toEqual([2, 4, 6, 7, 8]);
    for (const seq of [1, 3, 5, 9, 11]) plant(rig, seq);
    await settle(worker);
    expect(await rig.foldedThrough(A)).toBe(12n);
    expect(await rig.bodies(A)).toEqual(await rig.fold(A));
  });

  it('OPS-4: keeps the mark small while very many holes are open, and all is folded when they are closed', async () => {
    const rig = await withOps(
      Array.from({ length: 800 }, (_, i) => 2 * i + 2),
      true,
    );
    const worker = rig.worker({ rangesMax: 200, pageOpsMax: 100 });
    await ticks(worker, 10);
    expect(await watermark(rig)).toMatchObject({ ahead: { length: 200 }, holes: { length: 200 } });
    rig.opStore.holdsHoles = false;
    await settle(worker, 2000);
    expect(await rig.foldedThrough(A)).toBe(1600n);
    expect((await rig.bodies(A)).size).toBe(800);
  });
});

describe('the grace for writers of an older make', () => {
  const grace = { legacyGraceMs: GRACE_MS };

  // kills: hole-judge.ts: lookedAtMs - hole.firstSeenMs >= legacyGraceMs => lookedAtMs >= legacyGraceMs
  it('FLD-2: counts from the first sight of any worker, which outlives them', async () => {
    const rig = await withOps([1, 3], true);
    rig.time.advance(10 * GRACE_MS);
    await rig.worker(grace).tick();
    const seenAtMs = rig.time.now();
    rig.time.advance(GRACE_MS - 1500);
    const later = rig.worker({ ...grace, feed: rig.feed() });
    await later.tick();
    expect(rig.time.now() - seenAtMs).toBeLessThan(GRACE_MS);
    expect(await watermark(rig)).toMatchObject({ foldedThrough: 1n, holes: [{ firstSeenMs: seenAtMs }] });
    rig.time.advance(2000);
    await settle(later);
    expect(await watermark(rig)).toMatchObject({ foldedThrough: 3n, skipped: [{ from: 2n, to: 2n }] });
    expect(rig.seqs).toEqual({ skipped: 1 });
    expect(rig.logged).toContainEqual({
      fields: { stream: A, epoch: 1, from: '2', to: '2' },
      message: 'skipped: the grace is over, the mark passes seqs that may still be filled',
    });
  });

  it('FLD-2: does not pass an op that came in time', async () => {
    const rig = await withOps([1, 3], true);
    const worker = rig.worker(grace);
    await worker.tick();
    plant(rig, 2);
    rig.time.advance(2 * GRACE_MS);
    await settle(worker);
    expect(await watermark(rig)).toMatchObject({ foldedThrough: 3n, skipped: [] });
    expect(rig.seqs).toEqual({ backfilled: 1 });
  });

  // kills: hole-judge.ts: const sighted = sight(state, head, clock.now()); => const sighted = sight(state, head, lookedAtMs);
  it('FLD-2: a worker that is paused while it asks for the head dates no first sight before its answer', async () => {
    const rig = await withOps([1], true);
    const opStore = new (class extends HoldingOpStore {
      override async head(stream: string): Promise<bigint> {
        rig.time.advance(GRACE_MS);
        return super.head(stream);
      }
    })(rig.opLog);
    opStore.holdsHoles = true;
    opStore.heads.set(A, 3n);
    rig.changes.announce(A, 3n);
    await rig.worker({ ...grace, opStore }).tick();
    const [hole] = (await watermark(rig)).holes;
    expect(rig.time.now() - hole!.firstSeenMs).toBeLessThanOrEqual(GRACE_MS);
    expect((await watermark(rig)).skipped).toEqual([]);
  });

  // kills: hole-judge.ts: lookedAtMs - hole.firstSeenMs >= legacyGraceMs => clock.now() - hole.firstSeenMs >= legacyGraceMs
  it('FLD-2: a worker that was paused after its look does not pass what came meanwhile', async () => {
    const rig = await withOps([1, 3], true);
    const opStore = new (class extends HoldingOpStore {
      override async burnedThrough(_: string, after: bigint): Promise<bigint> {
        if (rig.time.now() >= pausesAtMs) {
          plant(rig, 2);
          rig.time.advance(2 * GRACE_MS);
        }
        return after;
      }
    })(rig.opLog);
    opStore.holdsHoles = true;
    let pausesAtMs = Infinity;
    const worker = rig.worker({ ...grace, opStore });
    await worker.tick();
    pausesAtMs = rig.time.now();
    await worker.tick();
    pausesAtMs = Infinity;
    expect((await watermark(rig)).skipped).toEqual([]);
    await settle(worker);
    expect(rig.seqs).toEqual({ backfilled: 1 });
  });

  // kills: stream-folder.ts: if (nowMs < recent.lookAtMs && !isNamed) return 0; => if (nowMs < recent.lookAtMs) return 0;
  it('FLD-2: an op that comes after it is folded when its doorbell rings, and counted as late', async () => {
    const rig = await withOps([1, 3, 5], true);
    const worker = rig.worker(grace);
    await worker.tick();
    rig.time.advance(GRACE_MS);
    await settle(worker);
    expect(rig.seqs).toEqual({ skipped: 2 });
    plant(rig, 2);
    rig.changes.announce(A, 2n);
    await worker.tick();
    expect(await folded(rig)).toEqual([1, 2, 3, 5]);
    expect(rig.seqs).toEqual({ skipped: 2, late: 1 });
    expect(await watermark(rig)).toMatchObject({ foldedThrough: 5n, skipped: [{ from: 4n, to: 4n }] });
    expect(rig.logged.at(-1)).toEqual({
      fields: { stream: A, epoch: 1, from: '2', to: '2' },
      message: 'late: ops came after the grace had passed them, and are folded now',
    });
  });

  it('FLD-2: an op that comes after it without a doorbell is found by the sweep, and told once', async () => {
    const rig = await withOps([1, 3], true);
    const worker = rig.worker({ ...grace, sweepMs: 5000 });
    await worker.tick();
    rig.time.advance(GRACE_MS);
    await ticks(worker, 5);
    expect(await rig.foldedThrough(A)).toBe(3n);
    plant(rig, 2);
    await ticks(worker, 60);
    expect(await folded(rig)).toEqual([1, 2, 3]);
    expect(rig.seqs).toEqual({ skipped: 1, late: 1 });
  });

  it('FLD-2, FLD-3: counts for seqs at the end of a stream from when each was first said to be given', async () => {
    const rig = await withOps([1], true);
    rig.opStore.heads.set(A, 2n);
    await rig.ring(A);
    const worker = rig.worker(grace);
    await ticks(worker, 2);
    rig.time.advance(GRACE_MS - 5000);
    rig.opStore.heads.set(A, 3n);
    await rig.ring(A);
    await ticks(worker, 2);
    rig.time.advance(5000);
    await ticks(worker, 10);
    expect(await watermark(rig)).toMatchObject({ foldedThrough: 2n, skipped: [{ from: 2n, to: 2n }] });
    rig.time.advance(GRACE_MS);
    await settle(worker);
    expect(await rig.foldedThrough(A)).toBe(3n);
    expect((await worker.waitFor(A, 3n, 0)).reached).toBe(true);
  });
});

describe('seqs at the end of a stream that hold no op and never will', () => {
  it('FLD-3: are passed when a doorbell names the head, and a wait for them returns', async () => {
    const rig = await withOps([1, 2]);
    const worker = rig.worker();
    await settle(worker);
    rig.opStore.heads.set(A, 7n);
    rig.changes.announce(A, 7n);
    await settle(worker);
    expect((await worker.waitFor(A, 7n, 0)).reached).toBe(true);
    expect(rig.seqs).toEqual({ burned: 5 });
  });

  it('FLD-3: are found by the sweep where no doorbell rings, also of an erased stream', async () => {
    const rig = await withOps([1, 2]);
    await settle(rig.worker());
    await rig.append(A, anEvent('e3', 3));
    await rig.opStore.erase(A);
    const worker = rig.worker({ sweepMs: 1000 });
    await ticks(worker, 10);
    expect(await rig.foldedThrough(A)).toBe(3n);
  });

  // kills: sweep.ts: if (head > foldedThrough || skipped.length > 0 || => if (skipped.length > 0 ||
  it('FLD-3: a stream whose last doorbell got lost is found by the sweep', async () => {
    const rig = await withOps([1]);
    const worker = rig.worker({ sweepMs: 60_000 });
    await settle(worker);
    plant(rig, 2);
    await ticks(worker, 200);
    expect(await folded(rig)).toEqual([1, 2]);
  });
});

describe('a log that was truncated', () => {
  it('FLD-1: is folded from its floor on, which the mark tells, and what the view lacks is told', async () => {
    const rig = await withOps([1, 2, 3, 4, 5, 6]);
    rig.opStore.truncate(A, 4n);
    await settle(rig.worker());
    expect(await watermark(rig)).toMatchObject({ foldedThrough: 6n, floor: 4n });
    expect(await folded(rig)).toEqual([5, 6]);
    expect(rig.seqs).toEqual({ truncated: 4 });
    expect(messages(rig)).toContain('ops were removed from the log before they were folded: the view lacks them');
  });

  it('FLD-1: is nothing to a mark that stands at its floor or above', async () => {
    const rig = await withOps([1, 2, 3, 4]);
    await settle(rig.worker());
    rig.opStore.truncate(A, 3n);
    plant(rig, 5);
    await rig.ring(A);
    await settle(rig.worker());
    expect(await watermark(rig)).toMatchObject({ foldedThrough: 5n, floor: 0n });
    expect(rig.seqs).toEqual({});
  });
});

describe('the ends of the seqs', () => {
  it('RLY-2: an op at 2^63 - 1 is folded ahead', async () => {
    const rig = await withOps([1], true);
    rig.opStore.plant(A, I64_MAX, anEvent('last', 9));
    await rig.ring(A);
    const worker = rig.worker();
    await ticks(worker, 4);
    expect((await rig.bodies(A)).size).toBe(2);
    expect((await watermark(rig)).ahead).toEqual([{ from: I64_MAX, to: I64_MAX }]);
  });
});
