export type { DynamoClient } from '@tidemark/libs-driver-dynamodb';
export { type DynamodbViewsOptions, connectDynamodbViews } from './connect.ts';
export { createViewsTable, viewsTable } from './tables.ts';
export { type DynamoViewsOptions, dynamoViews } from './views.ts';
