export { listDocuments, readDocument } from './document-reader.ts';
export { eventReducer } from './event-reducer.ts';
export {
  FoldOperator,
  type FoldOperatorOptions,
  type OperatorStatus,
  type Page,
  type Retried,
  type StreamStatus,
} from './fold-operator.ts';
export {
  type FoldStatus,
  FoldWorker,
  type FoldWorkerOptions,
  type StuckStream,
  type TickResult,
} from './fold-worker.ts';
export { buildText, holesText, readWatermark, revisionsText } from './mark-text.ts';
export type { Waited } from './mark-watch.ts';
export { type OpWaitParts, type OpWaited, waitForOp } from './op-wait.ts';
export { FOLDED_LAMPORT_MAX, type Reduced, type Reducer, Reducers } from './reduce.ts';
export { compileDeclaration, type IndexedField, type LoadedReducers } from './reducers/compile.ts';
export type { Declaration } from './reducers/declaration.ts';
export { loadReducers, type ReducerSource } from './reducers/load-reducers.ts';
export type { EpochEvent, FoldLog, FoldMetrics, OpEnd, SeqEnd } from './report.ts';
export { type Standing, revisionsOf, standingOf } from './revisions.ts';
export { type Covered, RANGES_MAX, cover, emptyWatermark, heldSeqs, isCovered, union } from './watermark.ts';
