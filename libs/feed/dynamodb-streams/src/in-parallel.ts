/** Runs the work on every item, at most `max` at a time. */
export async function inParallel<T>(items: Iterable<T>, max: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const lane = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: max }, lane));
}
