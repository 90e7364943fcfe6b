export * from './answer-repeats.ts';
export * from './claims.ts';
export * from './deduplicator.ts';
export * from './running-calls.ts';
