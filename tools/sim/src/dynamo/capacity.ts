/** Write units of one partition key: a bucket that holds one second's worth. A write may leave a debt, which later ones wait for. */
export class Capacity {
  readonly #left = new Map<string, { units: number; atMs: number }>();

  /** Whether the write is taken; a cancelled one has cost as much. */
  take(stream: string, units: () => number, perSecond: number, nowMs: number): boolean {
    if (perSecond === Infinity) return true;
    const bucket = this.#left.get(stream) ?? { units: perSecond, atMs: nowMs };
    bucket.units = Math.min(perSecond, bucket.units + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    this.#left.set(stream, bucket);
    if (bucket.units <= 0) return false;
    bucket.units -= units();
    return true;
  }
}
