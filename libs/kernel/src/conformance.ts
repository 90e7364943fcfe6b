/**
 * A contract's behaviour as data, free of any test runner: every adapter runs every case, and every mutant (a deliberately
 * broken model) must fail exactly the case that names it.
 */
export interface ConformanceCase<Harness> {
  /** A sentence about behaviour, with the guarantee's id. */
  readonly title: string;
  /** Name of the mutant that this case kills. */
  readonly kills?: string;
  /** Mutants that other cases name, but that cannot help failing this one too. */
  readonly alsoFails?: readonly string[];
  /** Runs on an empty, isolated subject; throws (node:assert) when the behaviour is not there. */
  run(harness: Harness): Promise<void>;
}

/** Titles of the cases that a subject fails, each run on a harness of its own. */
export async function failedTitles<Harness>(
  cases: readonly ConformanceCase<Harness>[],
  harness: () => Harness,
): Promise<string[]> {
  const failed: string[] = [];
  for (const { title, run } of cases) await run(harness()).catch(() => failed.push(title));
  return failed;
}

/** Titles of the cases that a mutant must fail: all that name it, and no other. */
export function titlesNaming<Harness>(cases: readonly ConformanceCase<Harness>[], mutant: string): string[] {
  const named = cases.filter(({ kills, alsoFails }) => kills === mutant || alsoFails?.includes(mutant));
  return named.map(({ title }) => title);
}
