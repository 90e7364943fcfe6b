export type { DynamoClient, DynamoCommand, SendOptions } from './client.ts';
export { connectDynamodb, type DynamodbOptions, type DynamodbStores } from './connect.ts';
export {
  type DynamoLog,
  type DynamoMetrics,
  dynamoOpStore,
  type DynamoOpStoreOptions,
  type HoleEnd,
  type RoundEnd,
} from './op-store.ts';
