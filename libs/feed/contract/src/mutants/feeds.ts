import type { Sleeper } from '@tidemark/libs-kernel';
import type { FeedBatch } from '../feed.ts';
import { type MemoryChangeLog, MemoryFeed } from '../memory-feed.ts';

class StartsAtTheNewest extends MemoryFeed {
  constructor(log: MemoryChangeLog, sleeper: Sleeper) {
    super(log, sleeper);
    if (log.checkpoint === 0) this.at = log.changes.length;
  }
}

class NamesAStreamOnce extends MemoryFeed {
  readonly #named = new Set<string>();

  override async read(max: number, waitMs: number, signal?: AbortSignal): Promise<FeedBatch> {
    const batch = await super.read(max, waitMs, signal);
    const fresh = batch.changes.filter(({ stream }) => !this.#named.has(stream));
    for (const { stream } of fresh) this.#named.add(stream);
    return { ...batch, changes: fresh };
  }
}

class LosesTheEndOfAFullBatch extends MemoryFeed {
  override async read(max: number, waitMs: number, signal?: AbortSignal): Promise<FeedBatch> {
    const batch = await super.read(max, waitMs, signal);
    return batch.changes.length === max ? { ...batch, changes: batch.changes.slice(0, -1) } : batch;
  }
}

class IgnoresTheBound extends MemoryFeed {
  override read(_max: number, waitMs: number, signal?: AbortSignal): Promise<FeedBatch> {
    return super.read(1000, waitMs, signal);
  }
}

class CheckpointsWhatItReads extends MemoryFeed {
  override async read(max: number, waitMs: number, signal?: AbortSignal): Promise<FeedBatch> {
    const batch = await super.read(max, waitMs, signal);
    await super.checkpoint(batch.position);
    return batch;
  }
}

class CheckpointsTooFar extends MemoryFeed {
  override async checkpoint(): Promise<void> {
    await super.checkpoint(String(this.log.changes.length));
  }
}

class SleepsThroughAChange extends MemoryFeed {
  protected override wait(waitMs: number, signal?: AbortSignal): Promise<void> {
    return this.sleeper.sleep(waitMs, signal);
  }
}

class IgnoresTheSignal extends MemoryFeed {
  override read(max: number, waitMs: number): Promise<FeedBatch> {
    return super.read(max, waitMs);
  }
}

class DropsWhatAnAbortedReadFound extends MemoryFeed {
  override async read(max: number, waitMs: number, signal?: AbortSignal): Promise<FeedBatch> {
    const batch = await super.read(max, waitMs, signal);
    return signal?.aborted ? { ...batch, changes: [] } : batch;
  }
}

class ReadsAfterClose extends MemoryFeed {
  override async close(): Promise<void> {}
}

/** Broken models: each fails exactly the case that names it. */
export const feedMutants = {
  'starts-at-the-newest': StartsAtTheNewest,
  'names-a-stream-once': NamesAStreamOnce,
  'loses-the-end-of-a-full-batch': LosesTheEndOfAFullBatch,
  'ignores-the-bound': IgnoresTheBound,
  'checkpoints-what-it-reads': CheckpointsWhatItReads,
  'checkpoints-too-far': CheckpointsTooFar,
  'sleeps-through-a-change': SleepsThroughAChange,
  'ignores-the-signal': IgnoresTheSignal,
  'drops-what-an-aborted-read-found': DropsWhatAnAbortedReadFound,
  'reads-after-close': ReadsAfterClose,
};
