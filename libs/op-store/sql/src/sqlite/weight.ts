/** What a write adds to its transaction: rows, and UTF-16 units of their text. */
export interface Weight {
  readonly rows: number;
  readonly units: number;
}

export interface Weighed {
  readonly weight: Weight;
}

/** Bounds of one transaction: how long it holds others up, and how much of the log it takes. */
const WEIGHT_MAX: Weight = { rows: 10_000, units: 16 * 1024 * 1024 };

/** How many, from the first, one transaction takes: at least one, however heavy. 0 only of nothing. */
export function countThatFit(waiting: readonly Weighed[]): number {
  let rows = 0;
  let units = 0;
  const end = waiting.findIndex(({ weight }, at) => {
    rows += weight.rows;
    units += weight.units;
    return at > 0 && (rows > WEIGHT_MAX.rows || units > WEIGHT_MAX.units);
  });
  return end < 0 ? waiting.length : end;
}

/** Whether the writer may be sent the next batch too: it has the text of two transactions, or one batch, however heavy. */
export function fitsBeside(sent: ReadonlySet<Weighed>, next: Weighed): boolean {
  const { rows, units } = sumOf([...sent, next]);
  return sent.size === 0 || (rows <= 2 * WEIGHT_MAX.rows && units <= 2 * WEIGHT_MAX.units);
}

export function sumOf(weighed: readonly Weighed[]): Weight {
  let rows = 0;
  let units = 0;
  for (const { weight } of weighed) {
    rows += weight.rows;
    units += weight.units;
  }
  return { rows, units };
}
