import type { WatermarkState } from '@tidemark/libs-views-contract';
import * as fc from 'fast-check';
import {
  cover,
  emptyWatermark,
  isCovered,
  knows,
  knowsSeqs,
  raiseFloor,
  sight,
  skip,
  topOf,
  union,
} from './watermark.ts';

/** Seqs 1 to 30 are few enough that ranges meet, overlap and repeat. */
const TOP = 30;

interface Step {
  readonly kind: 'cover' | 'skip' | 'sight' | 'floor';
  readonly from: number;
  readonly to: number;
  readonly nowMs: number;
}

const step: fc.Arbitrary<Step> = fc
  .record({
    kind: fc.constantFrom('cover', 'cover', 'skip', 'sight', 'floor' as const),
    at: fc.integer({ min: 1, max: TOP }),
    length: fc.integer({ min: 0, max: 5 }),
    nowMs: fc.nat(50),
  })
  .map(({ kind, at, length, nowMs }) => ({ kind, from: at, to: Math.min(TOP, at + length), nowMs }));
const steps = fc.array(step, { maxLength: 14 });

function taken(state: WatermarkState, { kind, from, to, nowMs }: Step): WatermarkState {
  const range = { from: BigInt(from), to: BigInt(to) };
  if (kind === 'skip') return skip(state, range, nowMs).state;
  if (kind === 'sight') return sight(state, range.to, nowMs);
  // Floors are low, or nothing else would be left.
  if (kind === 'floor') return raiseFloor(state, BigInt(from >> 2));
  const outcome = cover(state, range, nowMs);
  if (outcome.kind === 'at_bound') throw new Error('no bound is near');
  return outcome.state;
}

const fold = (walk: readonly Step[]) => walk.reduce(taken, emptyWatermark());
const state = steps.map(fold);

/** What a state says of each seq: skipped, folded, when it was first missed, or nothing. */
function meaning(known: WatermarkState): Map<bigint, string | number> {
  const says = new Map<bigint, string | number>();
  for (let seq = 1n; seq <= BigInt(TOP); seq++) {
    const isIn = ({ from, to }: { from: bigint; to: bigint }) => from <= seq && seq <= to;
    const hole = known.holes.find(isIn);
    const isKnown = isCovered(known, { from: seq, to: seq });
    expect(hole !== undefined && isKnown).toBe(false);
    if (isKnown) says.set(seq, known.skipped.some(isIn) ? 'skipped' : 'folded');
    else if (hole) says.set(seq, hole.firstSeenMs);
  }
  return says;
}

/** The later of two meanings of a seq: unknown, missed (the elder sight), skipped, folded. */
function later(a: string | number | undefined, b: string | number | undefined): string | number | undefined {
  if (a === 'folded' || b === 'folded') return 'folded';
  if (a === 'skipped' || b === 'skipped') return 'skipped';
  return typeof a === 'number' && typeof b === 'number' ? Math.min(a, b) : (a ?? b);
}

describe('a state of a mark', () => {
  it('FLD-2: says of each seq the last thing that was learnt of it', () => {
    fc.assert(
      fc.property(steps, (walk) => {
        const says = new Map<bigint, string | number>();
        let [known, floor] = [emptyWatermark(), 0];
        for (const one of walk) {
          known = taken(known, one);
          const { kind, from, to, nowMs } = one;
          if (kind === 'floor') floor = Math.max(floor, from >> 2);
          const covers = kind === 'floor' ? [1, floor] : kind === 'sight' ? [1, 0] : [from, to];
          for (let seq = covers[0]!; seq <= covers[1]!; seq++) {
            const now = kind === 'skip' ? 'skipped' : 'folded';
            says.set(BigInt(seq), later(says.get(BigInt(seq)), now)!);
          }
          const top = kind === 'sight' ? BigInt(to) : topOf(known);
          for (let seq = 1n; seq <= top; seq++) if (!says.has(seq)) says.set(seq, nowMs);
        }
        expect([...meaning(known)]).toEqual([...says].sort(([a], [b]) => Number(a - b)));
        expect(known.floor).toBe(BigInt(floor));
      }),
    );
  });

  it('R11: has holes in order, which do not meet, and touch only where they were first seen at other times', () => {
    fc.assert(
      fc.property(state, state, (a, b) => {
        for (const { holes } of [a, union(a, b)]) {
          for (const [i, hole] of holes.entries()) {
            expect(hole.from <= hole.to).toBe(true);
            const next = holes[i + 1];
            if (next === undefined) continue;
            expect(next.from > hole.to).toBe(true);
            if (next.from === hole.to + 1n) expect(next.firstSeenMs).not.toBe(hole.firstSeenMs);
          }
        }
      }),
    );
  });

  it('FLD-2: what is skipped stays below what is known, and a later cover makes it folded', () => {
    fc.assert(
      fc.property(state, step, (before, one) => {
        for (const range of before.skipped) expect(isCovered(before, range)).toBe(true);
        if (one.kind !== 'cover') return;
        const says = meaning(taken(before, one));
        for (let seq = one.from; seq <= one.to; seq++) expect(says.get(BigInt(seq))).toBe('folded');
      }),
    );
  });

  it('FLD-5: never moves its prefix back, whatever is learnt', () => {
    fc.assert(
      fc.property(state, step, state, (before, one, other) => {
        expect(taken(before, one).foldedThrough >= before.foldedThrough).toBe(true);
        expect(union(before, other).foldedThrough >= before.foldedThrough).toBe(true);
      }),
    );
  });
});

describe('union of states with holes at the end, skips and floors', () => {
  // kills: watermark.ts: const skipped = without(joined([...a.skipped, ...b.skipped]), folded); => const skipped = joined([...a.skipped, ...b.skipped]);
  it('FLD-5: takes of each seq the later meaning', () => {
    fc.assert(
      fc.property(state, state, (a, b) => {
        const [ofA, ofB, of] = [meaning(a), meaning(b), meaning(union(a, b))];
        for (let seq = 1n; seq <= BigInt(TOP); seq++) expect(of.get(seq)).toBe(later(ofA.get(seq), ofB.get(seq)));
        expect(union(a, b).floor).toBe(a.floor > b.floor ? a.floor : b.floor);
      }),
    );
  });

  it('FLD-5: is commutative, associative and idempotent, and the empty state adds nothing', () => {
    fc.assert(
      fc.property(state, state, state, (a, b, c) => {
        expect(union(a, b)).toEqual(union(b, a));
        expect(union(a, union(b, c))).toEqual(union(union(a, b), c));
        expect(union(a, a)).toEqual(a);
        expect(union(a, emptyWatermark())).toEqual(a);
      }),
    );
  });

  it('FLD-5: knows both sides, and nothing else knows more', () => {
    fc.assert(
      fc.property(state, state, (a, b) => {
        const both = union(a, b);
        expect([knows(both, a), knows(both, b), knowsSeqs(both, a), knowsSeqs(both, b)]).toEqual([
          true,
          true,
          true,
          true,
        ]);
        expect(knows(a, b)).toBe(knows(a, both));
      }),
    );
  });
});

describe('the bounds of a state', () => {
  it('FLD-2: of more skipped ranges than are watched the lowest is answered as forgotten, and counts as folded', () => {
    let known = emptyWatermark();
    for (const seq of [2n, 4n, 6n]) known = skip(known, { from: seq, to: seq }, 0, 2).state;
    expect(known.skipped).toEqual([
      { from: 4n, to: 4n },
      { from: 6n, to: 6n },
    ]);
    const { forgotten } = skip(known, { from: 8n, to: 9n }, 0, 2);
    expect(forgotten).toEqual([{ from: 4n, to: 4n }]);
    expect(isCovered(known, { from: 2n, to: 2n })).toBe(true);
  });

  it('OPS-4: with as many pieces of missing seqs as are kept, no other at the end of the stream is kept apart', () => {
    let known = emptyWatermark();
    for (let head = 1n; head <= 9n; head++) known = sight(known, head, Number(head), 3);
    expect(known.holes.map(({ from, to }) => [from, to])).toEqual([
      [1n, 1n],
      [2n, 2n],
      [3n, 3n],
    ]);
  });

  it('FLD-2: a seq that was given late at the end of a stream is as young as its own sight', () => {
    const first = sight(emptyWatermark(), 2n, 10);
    const second = sight(first, 3n, 90);
    expect(second.holes).toEqual([
      { from: 1n, to: 2n, firstSeenMs: 10 },
      { from: 3n, to: 3n, firstSeenMs: 90 },
    ]);
    const outcome = cover(second, { from: 4n, to: 4n }, 99);
    expect(outcome).toMatchObject({ kind: 'covered', state: { holes: second.holes } });
  });
});
