import type { Deduplicator } from '@tidemark/libs-dedupe-contract';
import type { DynamodbPlace } from '@tidemark/libs-driver-dynamodb';
import { openClient } from './client.ts';
import { type DynamodbDedupeParts, RESERVE_CONCURRENCY, dynamodbDeduplicator } from './dynamodb-deduplicator.ts';

export interface DynamodbDedupeOptions extends DynamodbPlace, Omit<DynamodbDedupeParts, 'client'> {}

/**
 * Ids in one DynamoDB table, which any number of services share and which the deployment makes: see docs/operating/dedupe-dynamodb.md.
 * Refuses to open, `misconfigured`, without a region, where the table is missing or has another key, or a right is missing. A table that
 * does not answer now is looked at again in the background, and every call is `unavailable` until it was seen.
 */
export async function connectDynamodbDeduplicator(options: DynamodbDedupeOptions): Promise<Deduplicator> {
  const { reserveConcurrency = RESERVE_CONCURRENCY } = options;
  // As many commits and releases run beside the puts.
  const client = await openClient(options, 2 * reserveConcurrency);
  try {
    return await dynamodbDeduplicator({ ...options, client });
  } catch (thrown) {
    client.destroy();
    throw thrown;
  }
}
