export { type EmbeddedDedupeOptions, connectEmbeddedDeduplicator } from './connect.ts';
export type { Swept, SweepReport } from './sweep.ts';
