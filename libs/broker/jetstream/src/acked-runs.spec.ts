import { AckedRuns } from './acked-runs.ts';

function runsOf(...seqs: readonly number[]): AckedRuns {
  const runs = new AckedRuns();
  for (const seq of seqs) runs.add(BigInt(seq), 0);
  return runs;
}

const spans = ({ runs }: AckedRuns) => runs.map(({ from, to }) => [Number(from), Number(to)]);

test('BRK-3: messages that are acked in a row are one run, others keep their gaps', () => {
  expect(spans(runsOf(1, 2, 3, 7, 8, 5, 2, 8))).toEqual([
    [1, 3],
    [5, 5],
    [7, 8],
  ]);
});

// kills: acked-runs.ts: storedAtMs - before.storedAtMs < RUN_MS_MAX => true
test('BRK-3: a run is cut by time, so that its age is known', () => {
  const runs = new AckedRuns();
  for (const [seq, ms] of [
    [1n, 0],
    [2n, 900],
    [3n, 1000],
    [4n, 5000],
  ] as const)
    runs.add(seq, ms);
  expect(spans(runs)).toEqual([
    [1, 2],
    [3, 3],
    [4, 4],
  ]);
  expect([1000, 1001, 2001, 9000].map((ms) => runs.lastStoredBefore(ms))).toEqual([0n, 2n, 3n, 4n]);
});

// kills: acked-runs.ts: return run.from > seq ? [run] : [{ ...run, from: seq + 1n }]; => return [run];
test('BRK-3: what was removed is forgotten, also in the middle of a run', () => {
  const runs = runsOf(1, 2, 3, 4, 9);
  runs.dropUpTo(2n);
  expect(spans(runs)).toEqual([
    [3, 4],
    [9, 9],
  ]);
  runs.dropUpTo(100n);
  expect(spans(runs)).toEqual([]);
});

// kills: acked-runs.ts: if (this.#runs.length > RUNS_MAX) => if (false)
test('OPS-4: acks with a gap behind each take bounded memory', () => {
  const runs = new AckedRuns();
  for (let seq = 1n; seq < 60_000n; seq += 2n) runs.add(seq, 0);
  expect(runs.runs.length).toBe(10_000);
  expect(runs.runs.at(-1)).toMatchObject({ from: 59_999n });
});
