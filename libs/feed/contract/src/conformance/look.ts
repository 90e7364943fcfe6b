import type { Feed, FeedBatch } from '../feed.ts';
import type { FeedHarness } from './harness.ts';

/** The highest head that the batches named of each stream. */
export type Heads = Map<string, bigint>;

/** Long enough for a feed to look again, whatever its pace. */
const LOOK_MS = 2000;

export function hear(heads: Heads, { changes }: FeedBatch): Heads {
  for (const { stream, head } of changes) if (head > (heads.get(stream) ?? 0n)) heads.set(stream, head);
  return heads;
}

/** One read, which gets all the time that it wants. */
export function look(harness: FeedHarness, feed: Feed, max = 100): Promise<FeedBatch> {
  return timePasses(harness, feed.read(max, LOOK_MS));
}

/** Reads until `heads` holds every expected head, in at most `readsMax` reads; what it heard by then. */
export async function hearUntil(
  harness: FeedHarness,
  feed: Feed,
  expected: Heads,
  max = 100,
  readsMax = 50,
): Promise<Heads> {
  const heads: Heads = new Map();
  for (let n = 0; n < readsMax && !covers(heads, expected); n++) hear(heads, await look(harness, feed, max));
  return heads;
}

export function covers(heads: Heads, expected: Heads): boolean {
  return [...expected].every(([stream, head]) => (heads.get(stream) ?? 0n) >= head);
}

/** Moves time on in small steps until the promise settles; every step lets code that was woken run on. */
export async function timePasses<T>(harness: FeedHarness, promise: Promise<T>, stepMs = 10): Promise<T> {
  let settled = false;
  const watched = promise.finally(() => (settled = true));
  watched.catch(() => {});
  await othersRun(harness);
  while (!settled) {
    harness.time.advance(stepMs);
    await othersRun(harness);
  }
  return watched;
}

/** Lets everything run that waits for nothing but its turn, or for a server. */
export async function othersRun({ answered }: FeedHarness): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await answered?.();
}
