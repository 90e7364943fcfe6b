export { feedCases as feedConformance } from './conformance/cases.ts';
export type { FeedHarness } from './conformance/harness.ts';
export { memoryFeed } from './memory-harness.ts';
export { MemoryChangeLog, MemoryFeed } from './memory-feed.ts';
export { feedMutants } from './mutants/feeds.ts';
