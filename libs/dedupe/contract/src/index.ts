export * from './deduplicator.ts';
