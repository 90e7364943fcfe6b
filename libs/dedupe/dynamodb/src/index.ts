export type { DedupeLog } from './check-table.ts';
export { type DynamodbDedupeOptions, connectDynamodbDeduplicator } from './connect.ts';
export type { DynamodbDedupeMetrics, RequestOutcome, TableOperation } from './metrics.ts';
