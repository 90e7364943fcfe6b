/** One way of doing the work that is measured. Whoever measures it has verified what it returns. */
export interface Candidate {
  readonly name: string;
  readonly run: () => unknown;
}

export interface Pace {
  readonly rounds: number;
  /** How often the work runs in one round of one candidate. */
  readonly repeats: number;
}

/**
 * Median milliseconds of one run, by name. Candidates take turns in every round, so that whatever disturbs the machine disturbs all of
 * them; the first quarter of the rounds warms up and is not counted.
 */
export function alternate(candidates: readonly Candidate[], pace: Pace): Map<string, number> {
  const times = new Map<string, number[]>(candidates.map(({ name }) => [name, []]));
  for (let round = 0; round < pace.rounds; round++) {
    for (const { name, run } of candidates) {
      const startMs = performance.now();
      for (let i = 0; i < pace.repeats; i++) run();
      times.get(name)?.push((performance.now() - startMs) / pace.repeats);
    }
  }
  return new Map([...times].map(([name, all]) => [name, median(all.slice(Math.floor(pace.rounds / 4)))]));
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
