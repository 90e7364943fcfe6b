export { type Admitted, type Refusal, type RequestHead, admit, readTenant } from './admit.ts';
export { type IngestAnswer, type RefusalDetail, refuse } from './answer.ts';
export { type IngestParts, type IngestRequest, IngestService } from './ingest-service.ts';
export type { IngestLog, IngestMetrics, RecordEvent } from './observe.ts';
export * from './tables.ts';
