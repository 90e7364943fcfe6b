export { anOp, someOps } from './testing/an-op.ts';
export { readAll } from './testing/look.ts';
export { MemoryOpLog, MemoryOpStore } from './testing/memory-op-store.ts';
export { opStoreConformance, opStoreMutants } from './testing/op-store-conformance.ts';
export { memoryOpStoreHarness, type OpStoreHarness } from './testing/op-store-harness.ts';
