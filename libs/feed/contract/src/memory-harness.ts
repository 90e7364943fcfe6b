import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { FeedHarness } from './conformance/harness.ts';
import { MemoryChangeLog, MemoryFeed } from './memory-feed.ts';

/** The harness of the memory model, or of a mutant of it. */
export function memoryFeed(Handle: typeof MemoryFeed = MemoryFeed): FeedHarness {
  const time = new ManualTime();
  const log = new MemoryChangeLog();
  return {
    time,
    open: async () => new Handle(log, time),
    announce: async (stream, head) => log.announce(stream, head),
  };
}
