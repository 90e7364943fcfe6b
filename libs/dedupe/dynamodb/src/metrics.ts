export type TableOperation =
  'put_item' | 'delete_item' | 'batch_write_item' | 'describe_table' | 'describe_time_to_live';

/** `condition_failed`: another claim or a commit stands there, or the claim to release is gone; an answer like `ok`. */
export type RequestOutcome = 'ok' | 'condition_failed' | 'unavailable' | 'error';

/** What this store counts, for a service to publish. */
export interface DynamodbDedupeMetrics {
  /** A call has ended, with whatever of it was repeated. */
  request(operation: TableOperation, outcome: RequestOutcome, tookMs: number): void;
  /** Items of a commit that the table handed back. */
  unprocessed(items: number): void;
  /** A reserve was refused without a call. */
  shortCircuit(): void;
  /** An id of this table was too long to be kept as it is, and is kept by its hash. */
  hashedId(table: string): void;
}
