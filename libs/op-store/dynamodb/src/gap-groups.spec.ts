import fc from 'fast-check';
import { BurnedSeqs } from './burned-seqs.ts';
import { type Group, groupsOf, type ShownOp } from './gap-groups.ts';

function shownAt(...seqs: readonly number[]): ShownOp[] {
  return seqs.map((seq) => ({ seq: BigInt(seq), bytes: 100 }));
}

function groups(after: bigint, shown: readonly ShownOp[], burned = new BurnedSeqs(), longRuns = false): Group[] {
  return [...groupsOf(after, shown, burned, longRuns)];
}

describe('the holes of a page', () => {
  it('RLY-9: are judged 99 at a time, with a witness above them', () => {
    const [first, second, ...rest] = groups(0n, shownAt(1, 150));
    expect(rest).toEqual([]);
    expect(first).toMatchObject({
      from: 2n,
      witness: 150n,
      gaps: [{ from: 2n, to: 100n, above: 150n, isLast: false }],
    });
    expect(second).toMatchObject({
      from: 101n,
      witness: 150n,
      gaps: [{ from: 101n, to: 149n, above: 150n, isLast: true }],
    });
    expect([first?.holes.length, second?.holes.length]).toEqual([99, 49]);
  });

  it('RLY-9: of many gaps are judged together, and each keeps the op above it', () => {
    expect(groups(2n, shownAt(5, 6, 8))).toEqual([
      {
        from: 3n,
        holes: [3n, 4n, 7n],
        gaps: [
          { from: 3n, to: 4n, above: 5n, isLast: true },
          { from: 7n, to: 7n, above: 8n, isLast: true },
        ],
        witness: 8n,
        isLongRun: false,
      },
    ]);
  });

  it('RLY-9: that are known to be burned are left out', () => {
    const burned = new BurnedSeqs();
    burned.add({ from: 3n, to: 5n });
    expect(groups(0n, shownAt(1, 8), burned).flatMap(({ holes }) => holes)).toEqual([2n, 6n, 7n]);
    burned.add({ from: 2n, to: 7n });
    expect(groups(0n, shownAt(1, 8), burned)).toEqual([]);
  });

  it('RLY-9: more than 48 in a row are one group of their last 48 where rule L is set, with the op right above', () => {
    const shown = [...shownAt(1, 1000), { seq: 1001n, bytes: 1 }, ...shownAt(1003)];
    const [run, rest] = groups(0n, shown, new BurnedSeqs(), true);
    expect(run).toMatchObject({ from: 2n, witness: 1000n, isLongRun: true });
    expect(run?.gaps).toEqual([{ from: 2n, to: 999n, above: 1000n, isLast: true }]);
    expect([run?.holes[0], run?.holes.at(-1), run?.holes.length]).toEqual([952n, 999n, 48]);
    expect(rest).toMatchObject({ holes: [1002n], witness: 1003n, isLongRun: false });
  });

  it('RLY-9: are each in one group, from below, under a witness that was shown and is none larger than another', () => {
    const seqs = fc.uniqueArray(fc.integer({ min: 3, max: 600 }), { minLength: 1, maxLength: 40 });
    const known = fc.array(fc.tuple(fc.bigInt(1n, 600n), fc.bigInt(0n, 120n)), { maxLength: 4 });
    fc.assert(
      fc.property(seqs, known, fc.bigInt(-1n, 2n), fc.boolean(), (places, ranges, after, longRuns) => {
        const shown = places.sort((a, b) => a - b).map((seq) => ({ seq: BigInt(seq), bytes: (seq * 37) % 11 }));
        const burned = new BurnedSeqs();
        for (const [from, length] of ranges) burned.add({ from, to: from + length });
        const made = groups(after, shown, burned, longRuns);
        const judged = made.flatMap(({ gaps }) => gaps.flatMap(({ from, to }) => range(from, to)));
        const last = shown.at(-1)?.seq as bigint;
        const isShown = (seq: bigint) => shown.some((op) => op.seq === seq);
        expect(judged).toEqual(range(after + 1n, last).filter((seq) => !isShown(seq) && burned.around(seq) === null));
        for (const { holes, gaps, from, witness, isLongRun } of made) {
          expect(from).toBe(gaps[0]?.from);
          expect(holes.length).toBeLessThanOrEqual(99);
          if (!isLongRun) expect(holes).toEqual(gaps.flatMap(({ from: low, to }) => range(low, to)));
          const above = shown.filter(({ seq }) => seq > (holes.at(-1) as bigint));
          const smallest = Math.min(...above.map(({ bytes }) => bytes));
          const found = above.find(({ seq }) => seq === witness);
          expect(found?.bytes).toBe(isLongRun ? above[0]?.bytes : smallest);
          for (const gap of gaps) expect(gap.above).toBe(shown.find(({ seq }) => seq > gap.to)?.seq);
        }
      }),
    );
  });
});

function range(from: bigint, to: bigint): bigint[] {
  return from > to ? [] : Array.from({ length: Number(to - from) + 1 }, (_, i) => from + BigInt(i));
}
