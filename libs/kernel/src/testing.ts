export * from './conformance.ts';
export * from './manual-time.ts';
export * from './seeded-random.ts';
export * from './shared-data.ts';
