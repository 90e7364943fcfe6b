/** Results in the order of the items; at most `callsMax` at once. Rejects with the first failure, and begins none after it. */
export async function inParallel<T, R>(
  items: readonly T[],
  callsMax: number,
  call: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  let hasFailed = false;
  const work = async (): Promise<void> => {
    while (next < items.length && !hasFailed) {
      const at = next++;
      try {
        results[at] = await call(items[at] as T);
      } catch (thrown) {
        hasFailed = true;
        throw thrown;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(callsMax, items.length) }, work));
  return results;
}
