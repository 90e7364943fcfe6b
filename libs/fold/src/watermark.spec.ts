import type { SeqRange, WatermarkState } from '@tidemark/libs-views-contract';
import * as fc from 'fast-check';
import { cover, emptyWatermark, heldSeqs, isCovered, union } from './watermark.ts';

interface Step extends SeqRange {
  readonly nowMs: number;
}

/** Seqs 1 to 40 are few enough that ranges meet, overlap and repeat. */
const step: fc.Arbitrary<Step> = fc
  .record({ at: fc.integer({ min: 1, max: 40 }), length: fc.integer({ min: 1, max: 6 }), nowMs: fc.nat(1000) })
  .map(({ at, length, nowMs }) => ({ from: BigInt(at), to: BigInt(at + length - 1), nowMs }));
const steps = fc.array(step, { maxLength: 20 });

function covered(state: WatermarkState, range: SeqRange, nowMs = 0, rangesMax?: number): WatermarkState {
  const outcome = cover(state, range, nowMs, rangesMax);
  if (outcome.kind !== 'covered') throw new Error('refused');
  return outcome.state;
}

function fold(walk: readonly Step[]): WatermarkState {
  return walk.reduce((state, range) => covered(state, range, range.nowMs), emptyWatermark());
}

const state = steps.map(fold);

/** The same facts as a plain set of seqs. */
function model(walk: readonly SeqRange[]): Pick<WatermarkState, 'foldedThrough' | 'ahead'> {
  const seqs = new Set<bigint>();
  for (const { from, to } of walk) for (let seq = from; seq <= to; seq++) seqs.add(seq);
  let foldedThrough = 0n;
  while (seqs.has(foldedThrough + 1n)) foldedThrough++;
  const ahead: { from: bigint; to: bigint }[] = [];
  for (const seq of [...seqs].filter((one) => one > foldedThrough).sort((a, b) => Number(a - b))) {
    if (ahead.at(-1)?.to === seq - 1n) ahead.at(-1)!.to = seq;
    else ahead.push({ from: seq, to: seq });
  }
  return { foldedThrough, ahead };
}

describe('cover', () => {
  it('R10: keeps the prefix and the ranges of the set of all covered seqs, in any order and with repeats', () => {
    fc.assert(
      fc.property(steps, (walk) => {
        const { foldedThrough, ahead } = fold(walk);
        expect({ foldedThrough, ahead }).toEqual(model(walk));
      }),
    );
  });

  it('FLD-1: does not depend on the order of arrival', () => {
    const shuffled = steps.chain((walk) =>
      fc.tuple(fc.constant(walk), fc.shuffledSubarray(walk, { minLength: walk.length })),
    );
    fc.assert(
      fc.property(shuffled, ([walk, other]) => {
        const [a, b] = [fold(walk), fold(other)];
        expect([b.foldedThrough, b.ahead]).toEqual([a.foldedThrough, a.ahead]);
      }),
    );
  });

  it('FLD-5: never moves the prefix back', () => {
    fc.assert(
      fc.property(state, step, (before, range) => {
        expect(covered(before, range).foldedThrough >= before.foldedThrough).toBe(true);
      }),
    );
  });

  it('R11: shows a hole for every unfolded seq below the last folded one', () => {
    fc.assert(
      fc.property(state, (known) => {
        const top = known.ahead.at(-1)?.to ?? known.foldedThrough;
        for (let seq = 1n; seq <= top; seq++) {
          const inHole = known.holes.some(({ from, to }) => from <= seq && seq <= to);
          expect(inHole).toBe(!isCovered(known, { from: seq, to: seq }));
        }
        expect(heldSeqs(known)).toBe(known.holes.reduce((sum, { from, to }) => sum + to - from + 1n, 0n));
      }),
    );
  });

  it('FLD-2: a hole keeps the time of its first sight while it shrinks and splits, whatever the clock says later', () => {
    fc.assert(
      fc.property(state, step, (before, range) => {
        for (const hole of covered(before, range, range.nowMs).holes) {
          const parent = before.holes.find(({ from, to }) => from <= hole.from && hole.to <= to);
          expect(hole.firstSeenMs).toBe(parent ? parent.firstSeenMs : range.nowMs);
        }
      }),
    );
  });

  it('F1: with op 3 before op 2 the prefix waits at 1, then passes both', () => {
    const at1 = covered(emptyWatermark(), { from: 1n, to: 1n });
    const with3 = covered(at1, { from: 3n, to: 3n }, 7);
    expect(with3).toEqual({
      foldedThrough: 1n,
      ahead: [{ from: 3n, to: 3n }],
      holes: [{ from: 2n, to: 2n, firstSeenMs: 7 }],
      skipped: [],
      floor: 0n,
    });
    expect(covered(with3, { from: 2n, to: 2n })).toEqual({
      foldedThrough: 3n,
      ahead: [],
      holes: [],
      skipped: [],
      floor: 0n,
    });
  });

  it('R17: nothing but a cover of the hole passes it; no time does', () => {
    const held = covered(emptyWatermark(), { from: 2n, to: 2n }, 0);
    const later = covered(held, { from: 4n, to: 4n }, Number.MAX_SAFE_INTEGER);
    expect(later.foldedThrough).toBe(0n);
    expect(later.holes[0]).toEqual({ from: 1n, to: 1n, firstSeenMs: 0 });
  });

  it('works at the ends of the seqs: from 1, and up to 2^63 - 1', () => {
    const top = 2n ** 63n - 1n;
    const ahead = covered(emptyWatermark(), { from: top, to: top }, 5);
    expect(ahead.holes).toEqual([{ from: 1n, to: top - 1n, firstSeenMs: 5 }]);
    expect(covered(ahead, { from: 1n, to: top - 1n }).foldedThrough).toBe(top);
  });

  it('refuses an empty range and a range below 1', () => {
    expect(() => cover(emptyWatermark(), { from: 2n, to: 1n }, 0)).toThrow();
    expect(() => cover(emptyWatermark(), { from: 0n, to: 1n }, 0)).toThrow();
  });
});

describe('the bound on ranges', () => {
  const full = [3n, 5n, 7n].reduce((known, seq) => covered(known, { from: seq, to: seq }), emptyWatermark());

  it('OPS-4: one more range is refused, and the state stays as it was', () => {
    expect(cover(full, { from: 9n, to: 9n }, 0, 3)).toEqual({ kind: 'at_bound' });
    expect(full.ahead).toHaveLength(3);
  });

  it('a cover that extends the prefix or a range, or joins two ranges, is taken also at and above the bound', () => {
    expect(covered(full, { from: 1n, to: 1n }, 0, 3).foldedThrough).toBe(1n);
    expect(covered(full, { from: 8n, to: 8n }, 0, 3).ahead.at(-1)).toEqual({ from: 7n, to: 8n });
    expect(covered(full, { from: 4n, to: 4n }, 0, 1).ahead).toHaveLength(2);
  });

  it('no covered seq is ever dropped', () => {
    fc.assert(
      fc.property(steps, (walk) => {
        let known = emptyWatermark();
        const taken: SeqRange[] = [];
        for (const range of walk) {
          const outcome = cover(known, range, 0, 2);
          if (outcome.kind === 'at_bound') continue;
          known = outcome.state;
          taken.push(range);
          expect(known.ahead.length).toBeLessThanOrEqual(2);
        }
        expect(known).toMatchObject(model(taken));
      }),
    );
  });
});

describe('union', () => {
  it('FLD-5: is commutative', () => {
    fc.assert(fc.property(state, state, (a, b) => expect(union(a, b)).toEqual(union(b, a))));
  });

  it('FLD-5: is associative', () => {
    fc.assert(
      fc.property(state, state, state, (a, b, c) => expect(union(a, union(b, c))).toEqual(union(union(a, b), c))),
    );
  });

  it('FLD-5: is idempotent, and the empty state adds nothing', () => {
    fc.assert(
      fc.property(state, (a) => {
        expect(union(a, a)).toEqual(a);
        expect(union(a, emptyWatermark())).toEqual(a);
      }),
    );
  });

  it('FLD-5: knows what both sides know, as if one worker had folded it all', () => {
    fc.assert(
      fc.property(steps, steps, (one, two) => {
        expect(union(fold(one), fold(two))).toMatchObject(model([...one, ...two]));
      }),
    );
  });

  it('FLD-2: a hole that both saw is as old as the elder sight', () => {
    const one = covered(emptyWatermark(), { from: 3n, to: 3n }, 20);
    const two = covered(emptyWatermark(), { from: 5n, to: 5n }, 10);
    expect(union(one, two).holes).toEqual([
      { from: 1n, to: 2n, firstSeenMs: 10 },
      { from: 4n, to: 4n, firstSeenMs: 10 },
    ]);
  });

  it('keeps the higher floor', () => {
    expect(union({ ...emptyWatermark(), floor: 4n }, emptyWatermark()).floor).toBe(4n);
  });
});
