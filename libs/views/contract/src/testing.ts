import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { buildCases } from './conformance/builds.ts';
import { documentCases } from './conformance/documents.ts';
import { epochCases } from './conformance/epochs.ts';
import type { ViewsHarness } from './conformance/harness.ts';
import { leftEpochCases } from './conformance/left-epochs.ts';
import { listingCases } from './conformance/listing.ts';
import { markCases } from './conformance/marks.ts';
import { memberCases } from './conformance/members.ts';
import { parkedCases } from './conformance/parked.ts';
import { refusalCases } from './conformance/refusals.ts';
import { registerCases } from './conformance/registers.ts';
import { buildMutants } from './mutants/builds.ts';
import { documentMutants } from './mutants/documents.ts';
import { epochMutants } from './mutants/epochs.ts';
import { leftEpochMutants } from './mutants/left-epochs.ts';
import { listingMutants } from './mutants/listing.ts';
import { markMutants } from './mutants/marks.ts';
import { memberMutants } from './mutants/members.ts';
import type { Mutants } from './mutants/opener.ts';
import { parkedMutants } from './mutants/parked.ts';
import { registerMutants } from './mutants/registers.ts';

export type { ViewsHarness } from './conformance/harness.ts';
export { type MemoryRows, MemoryViews, MemoryViewsStore } from './memory-views.ts';

/** What every place of views must do. */
export const viewsConformance: readonly ConformanceCase<ViewsHarness>[] = [
  ...registerCases,
  ...memberCases,
  ...documentCases,
  ...refusalCases,
  ...markCases,
  ...epochCases,
  ...buildCases,
  ...leftEpochCases,
  ...parkedCases,
  ...listingCases,
];

/** Broken views, one fault each. A conformance case names the one that it alone must catch. */
export const viewsMutants: Mutants = {
  ...registerMutants,
  ...memberMutants,
  ...documentMutants,
  ...markMutants,
  ...epochMutants,
  ...buildMutants,
  ...leftEpochMutants,
  ...parkedMutants,
  ...listingMutants,
};
