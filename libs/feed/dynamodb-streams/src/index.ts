export type { DynamoClient } from '@tidemark/libs-driver-dynamodb';
export type { StreamsClient } from './client.ts';
export { connectDynamodbStreams, type DynamodbStreamsOptions } from './connect.ts';
export { dynamodbStreamsFeed } from './feed.ts';
export type { DynamodbStreamsFeedOptions } from './options.ts';
export * from './report.ts';
export { createLeasesTable, enableStream, LEASES_KEY, leasesTable } from './tables.ts';
