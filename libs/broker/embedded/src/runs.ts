/** Whole numbers without a gap, both ends included. */
export interface Run {
  readonly from: bigint;
  to: bigint;
}

/** The same numbers as few runs; acks come mostly in one. */
export function runsOf(numbers: readonly bigint[]): readonly Run[] {
  const runs: Run[] = [];
  for (const number of numbers.toSorted((a, b) => (a < b ? -1 : 1))) {
    const last = runs.at(-1);
    if (last && number <= last.to + 1n) last.to = number;
    else runs.push({ from: number, to: number });
  }
  return runs;
}
