import fc from 'fast-check';
import { BurnedMemory, BurnedSeqs, type SeqRange } from './burned-seqs.ts';

const SEQS = 60n;
const aRange = fc.tuple(fc.bigInt(1n, SEQS), fc.bigInt(0n, 9n)).map(([from, length]) => ({ from, to: from + length }));

/** The same, seq by seq. */
function unknownOf(known: ReadonlySet<bigint>, { from, to }: SeqRange): bigint[] {
  return seqsOf([{ from, to }]).filter((seq) => !known.has(seq));
}

function seqsOf(ranges: readonly SeqRange[]): bigint[] {
  return ranges.flatMap(({ from, to }) => Array.from({ length: Number(to - from) + 1 }, (_, i) => from + BigInt(i)));
}

describe('the burned seqs of a stream', () => {
  it('RLY-9: are known one by one, whatever ranges they came in', () => {
    fc.assert(
      fc.property(fc.array(aRange, { maxLength: 30 }), aRange, (added, asked) => {
        const burned = new BurnedSeqs();
        for (const range of added) burned.add(range);
        const known = new Set(seqsOf(added));
        expect(seqsOf(burned.unknown(asked))).toEqual(unknownOf(known, asked));
        const around = burned.around(asked.from);
        expect(around !== null).toBe(known.has(asked.from));
        if (around === null) return;
        // The whole of it, and no more.
        expect(seqsOf([around]).every((seq) => known.has(seq))).toBe(true);
        expect([known.has(around.from - 1n), known.has(around.to + 1n)]).toEqual([false, false]);
      }),
    );
  });

  it('RLY-9: take one range for each run, however it grew', () => {
    fc.assert(
      fc.property(fc.array(aRange, { minLength: 1, maxLength: 30 }), (added) => {
        const burned = new BurnedSeqs();
        for (const range of added) burned.add(range);
        const known = new Set(seqsOf(added));
        const starts = [...known].filter((seq) => !known.has(seq - 1n));
        expect(burned.ranges).toBe(starts.length);
      }),
    );
  });

  it('RLY-9: of a million in one run are one range, also when they came by the hundred', () => {
    const burned = new BurnedSeqs();
    for (let from = 2n; from < 1_000_002n; from += 99n) burned.add({ from, to: from + 98n });
    expect(burned.ranges).toBe(1);
    expect(burned.around(7n)).toEqual({ from: 2n, to: 1_000_099n });
  });

  it('RLY-9: forgotten by half are those below', () => {
    const burned = new BurnedSeqs();
    for (let seq = 2n; seq <= 20n; seq += 2n) burned.add({ from: seq, to: seq });
    burned.halve();
    expect(burned.ranges).toBe(5);
    expect([burned.around(10n), burned.around(12n)]).toEqual([null, { from: 12n, to: 12n }]);
    burned.add({ from: 100n, to: 100n });
    expect(burned.around(100n)).toEqual({ from: 100n, to: 100n });
  });
});

describe('the burned seqs of many streams', () => {
  const everySecond = (memory: BurnedMemory, stream: string, ranges: number): void => {
    for (let i = 1; i <= ranges; i++) memory.add(stream, { from: BigInt(i * 2), to: BigInt(i * 2) });
  };
  const knows = (memory: BurnedMemory, stream: string, seq: bigint) => memory.of(stream).around(seq) !== null;

  it('RLY-9: stay within their bounds; the stream not read for longest is forgotten first', () => {
    const memory = new BurnedMemory(10, 100);
    for (const stream of ['a', 'b', 'c']) everySecond(memory, stream, 30);
    expect(knows(memory, 'a', 2n)).toBe(true);
    everySecond(memory, 'd', 30);
    expect(['a', 'b', 'c', 'd'].map((stream) => knows(memory, stream, 2n))).toEqual([true, false, true, true]);
    expect(memory.ranges).toBe(90);
  });

  // kills: burned-seqs.ts: if (burned.ranges > this.#rangesMax) burned.halve(); => if (false) burned.halve();
  it('RLY-9: of one stream alone stay within the bound too, the higher ones longer', () => {
    const memory = new BurnedMemory(10, 100);
    everySecond(memory, 'a', 250);
    expect(memory.ranges).toBeLessThanOrEqual(100);
    expect(memory.ranges).toBeGreaterThanOrEqual(50);
    expect([knows(memory, 'a', 2n), knows(memory, 'a', 500n)]).toEqual([false, true]);
  });

  it('OPS-4: of more streams than are remembered are forgotten', () => {
    const memory = new BurnedMemory(2, 100);
    for (const stream of ['a', 'b', 'c']) everySecond(memory, stream, 1);
    expect(['a', 'b', 'c'].map((stream) => knows(memory, stream, 2n))).toEqual([false, true, true]);
    expect(memory.ranges).toBe(2);
  });
});
