/** How DynamoDB is reached, and what its errors mean, for the adapters that keep something there. */
export { ATTEMPT_MS_MAX, boundedClient, OPERATION_MS_MAX } from './bounded-client.ts';
export type { DynamoClient, DynamoCommand, SendOptions } from './client.ts';
export { inParallel } from './in-parallel.ts';
export { denial, deniedAction, LOOKS_MAX, type LookWaits, type Shape, shapeOf, unthrottled } from './look.ts';
export { faultOf, mapError, mapWriteError, tableCalled } from './map-error.ts';
export { type Answer, answerOf, isCertain, type Meaning, meaningOf, nameOf, SILENT, UNFIT } from './meaning.ts';
export { clientSettings, type DynamodbPlace, placeSettings } from './settings.ts';
export { createTable, keyText, type TableKey, tableDefinition, waitForTable } from './tables.ts';
