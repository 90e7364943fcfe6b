export * from './conformance.ts';
export * from './memory-dedupe-store.ts';
export * from './memory-deduplicator.ts';
export * from './memory-harness.ts';
export * from './mutants.ts';
export * from './scripted-deduplicator.ts';
