/** Messages in a row that were acked, stored at about the same time. */
export interface Run {
  readonly from: bigint;
  to: bigint;
  /** Server's time of the first one, ms. */
  readonly storedAtMs: number;
}

/** A run is cut after so much time, so that its age is known. */
const RUN_MS_MAX = 1000;
/** More gaps than that are forgotten, oldest first: their messages go when everything before them is acked. */
const RUNS_MAX = 10_000;

/** What this process acked of a queue and has not removed yet, in order. */
export class AckedRuns {
  #runs: Run[] = [];

  get runs(): readonly Run[] {
    return this.#runs;
  }

  add(seq: bigint, storedAtMs: number): void {
    const at = this.#placeOf(seq);
    const before = this.#runs[at - 1];
    if (before && seq <= before.to) return;
    if (before?.to === seq - 1n && storedAtMs - before.storedAtMs < RUN_MS_MAX) before.to = seq;
    else this.#runs.splice(at, 0, { from: seq, to: seq, storedAtMs });
    if (this.#runs.length > RUNS_MAX) this.#runs.shift();
  }

  /** Last seq of the newest run that was stored before. */
  lastStoredBefore(ms: number): bigint {
    return this.#runs.findLast(({ storedAtMs }) => storedAtMs + RUN_MS_MAX < ms)?.to ?? 0n;
  }

  has(seq: bigint): boolean {
    const before = this.#runs[this.#placeOf(seq) - 1];
    return before !== undefined && seq <= before.to;
  }

  dropUpTo(seq: bigint): void {
    this.#runs = this.#runs.flatMap((run) => {
      if (run.to <= seq) return [];
      return run.from > seq ? [run] : [{ ...run, from: seq + 1n }];
    });
  }

  drop(gone: Run): void {
    this.#runs = this.#runs.filter((run) => run !== gone);
  }

  /** Where a run that begins at `seq` belongs. */
  #placeOf(seq: bigint): number {
    let [low, high] = [0, this.#runs.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#runs[middle]!.from <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
