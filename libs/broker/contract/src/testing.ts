export * from './conformance.ts';
export { MemoryBroker, type MemoryBrokerOptions, MemoryQueues } from './memory-broker.ts';
export { type MemoryParts, memoryHarness, passManualTime } from './memory-harness.ts';
export { MemoryQueue } from './memory-queue.ts';
export * from './mutants.ts';
export * from './scripted-broker.ts';
