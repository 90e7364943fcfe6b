export type { DynamoClient } from './client.ts';
export { type DynamodbViewsOptions, connectDynamodbViews } from './connect.ts';
export { createViewsTable, viewsTable } from './tables.ts';
export { type DynamoViewsOptions, dynamoViews } from './views.ts';
