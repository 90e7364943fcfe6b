export type { DynamoClient, DynamoCommand, SendOptions } from '@tidemark/libs-driver-dynamodb';
export {
  connectDynamodb,
  connectDynamodbLog,
  type DynamodbLogOptions,
  type DynamodbOptions,
  type DynamodbStores,
} from './connect.ts';
export type { DynamoLog, DynamoMetrics, HoleEnd, RoundEnd } from './metrics.ts';
export { dynamoOpStore, type DynamoOpStoreOptions } from './op-store.ts';
