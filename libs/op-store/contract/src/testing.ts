import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { aheadCases } from './conformance/ahead.ts';
import { appendCases } from './conformance/append.ts';
import { changesCases } from './conformance/changes.ts';
import { erasingCases } from './conformance/erasing.ts';
import { fidelityCases } from './conformance/fidelity.ts';
import type { IndexedOpStoreHarness, OpStoreHarness } from './conformance/harness.ts';
import { listingCases } from './conformance/listing.ts';
import { readCases } from './conformance/read.ts';
import { sharingCases } from './conformance/sharing.ts';
import { aheadMutants } from './mutants/ahead.ts';
import { appendMutants } from './mutants/append.ts';
import { erasingMutants } from './mutants/erasing.ts';
import type { OpStoreMutants } from './mutants/op-store.ts';
import { readMutants } from './mutants/read.ts';
import { sharingMutants } from './mutants/sharing.ts';

export { anOp, someOps } from './an-op.ts';
export type {
  IndexedOpStoreHarness,
  OpStoreHarness,
  PrefixRegistryHarness,
  PresenceBoardHarness,
} from './conformance/harness.ts';
export { readAll } from './conformance/look.ts';
export { prefixCases as prefixRegistryConformance } from './conformance/prefixes.ts';
export { presenceCases as presenceBoardConformance } from './conformance/presence.ts';
export { memoryOpStore, memoryPrefixRegistry, memoryPresenceBoard } from './memory-harness.ts';
export { MemoryOpLog, MemoryOpStore } from './memory-op-store.ts';
export { type MemoryClaims, MemoryPrefixRegistry } from './memory-prefix-registry.ts';
export { MemoryPresenceBoard, type MemoryRows } from './memory-presence-board.ts';
export { prefixMutants as prefixRegistryMutants } from './mutants/prefixes.ts';
export { presenceMutants as presenceBoardMutants } from './mutants/presence.ts';

/** Everything that an op store promises; every adapter runs every case. */
export const opStoreConformance: readonly ConformanceCase<OpStoreHarness>[] = [
  ...appendCases,
  ...readCases,
  ...aheadCases,
  ...fidelityCases,
  ...sharingCases,
  ...listingCases,
  ...erasingCases,
];

/** The same and more of a store that can say which streams changed. */
export const indexedOpStoreConformance: readonly ConformanceCase<IndexedOpStoreHarness>[] = [
  ...opStoreConformance,
  ...changesCases,
];

/** Broken models: each fails exactly the cases that name it. */
export const opStoreMutants: OpStoreMutants = {
  ...appendMutants,
  ...readMutants,
  ...aheadMutants,
  ...sharingMutants,
  ...erasingMutants,
};
