import type { ManualTime } from '@tidemark/libs-kernel/testing';
import type { Feed, FeedBatch } from '../feed.ts';

/** The highest head that the batches named of each stream. */
export type Heads = Map<string, bigint>;

export function hear(heads: Heads, { changes }: FeedBatch): Heads {
  for (const { stream, head } of changes) if (head > (heads.get(stream) ?? 0n)) heads.set(stream, head);
  return heads;
}

/** Reads until `heads` holds every expected head, in at most `readsMax` reads; what it heard by then. */
export async function hearUntil(feed: Feed, expected: Heads, max = 100, readsMax = 100): Promise<Heads> {
  const heads: Heads = new Map();
  for (let n = 0; n < readsMax && !covers(heads, expected); n++) hear(heads, await feed.read(max, 0));
  return heads;
}

export function covers(heads: Heads, expected: Heads): boolean {
  return [...expected].every(([stream, head]) => (heads.get(stream) ?? 0n) >= head);
}

/** Moves time on in small steps until the promise settles; every step lets code that was woken run on. */
export async function timePasses<T>(time: ManualTime, promise: Promise<T>, stepMs = 10): Promise<T> {
  let settled = false;
  const watched = promise.finally(() => (settled = true));
  watched.catch(() => {});
  while (!settled) {
    time.advance(stepMs);
    await othersRun();
  }
  return watched;
}

/** Lets everything run that waits for nothing but its turn. */
export function othersRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
