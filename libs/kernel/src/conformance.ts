/**
 * A contract's behaviour as data, free of any test runner: every adapter runs every case, and every mutant (a deliberately
 * broken model) must fail exactly the case that names it.
 */
export interface ConformanceCase<Harness> {
  /** A sentence about behaviour, with the guarantee's id. */
  readonly title: string;
  /** Name of the mutant that this case kills. */
  readonly kills?: string;
  /** Runs on an empty, isolated subject; throws (node:assert) when the behaviour is not there. */
  run(harness: Harness): Promise<void>;
}
