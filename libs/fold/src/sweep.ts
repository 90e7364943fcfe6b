import type { Clock } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { FIRST_EPOCH, type Revisions, type Views } from '@tidemark/libs-views-contract';
import type { Backlog } from './backlog.ts';
import type { Chore } from './chores.ts';
import { standingOf } from './revisions.ts';

export interface SweepOptions {
  readonly opStore: OpStore;
  readonly views: Views;
  readonly backlog: Backlog;
  /** Of this worker's reducers. */
  readonly revisions: Revisions;
  readonly clock: Clock;
  readonly sweepMs: number;
  /** Called for each stream of which an epoch was left, ever: a worker that slept may have written to it again. */
  readonly left: (stream: string) => void;
}

/** Marks compared together. */
const MARKS_MAX = 100;
const PAGE_PAUSE_MS = 50;

/**
 * Compares every mark with the head of its stream, page by page, and rings for what no doorbell tells: seqs that were given and hold no op
 * at the end of a stream, holes, skipped seqs to be watched, a doorbell that got lost, and a view of reducers that ours have outdated: a feed that
 * goes on at a checkpoint names no stream that rests. Streams without a mark are the feed's to name.
 */
export function sweepOf({ opStore, views, backlog, revisions, clock, sweepMs, left }: SweepOptions): Chore {
  let after: string | null = null;
  return async () => {
    // What has to be done already comes first.
    if (backlog.room < MARKS_MAX) return PAGE_PAUSE_MS * 10;
    const marks = await views.marks(after, MARKS_MAX);
    for (const { stream, mark } of marks) {
      if (mark.epoch > FIRST_EPOCH) left(stream);
      const head = await opStore.head(stream);
      const { foldedThrough, skipped } = mark.watermark;
      const isOutdated = standingOf(revisions, mark.revisions) === 'newer';
      if (head > foldedThrough || skipped.length > 0 || isOutdated || (await views.build(stream)) !== null)
        backlog.ring(stream, head, clock.monotonic());
    }
    after = marks.length < MARKS_MAX ? null : marks.at(-1)!.stream;
    return after === null ? sweepMs : PAGE_PAUSE_MS;
  };
}
