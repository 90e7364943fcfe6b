import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { documentCases } from './conformance/documents.ts';
import { epochCases } from './conformance/epochs.ts';
import type { ViewsHarness } from './conformance/harness.ts';
import { markCases } from './conformance/marks.ts';
import { registerCases } from './conformance/registers.ts';
import { documentMutants } from './mutants/documents.ts';
import { epochMutants } from './mutants/epochs.ts';
import { markMutants } from './mutants/marks.ts';
import type { Opener } from './mutants/opener.ts';
import { registerMutants } from './mutants/registers.ts';

export type { ViewsHarness } from './conformance/harness.ts';
export { MemoryViews, MemoryViewsStore } from './memory-views.ts';

/** What every place of views must do. */
export const viewsConformance: readonly ConformanceCase<ViewsHarness>[] = [
  ...registerCases,
  ...documentCases,
  ...markCases,
  ...epochCases,
];

/** Broken views, one fault each. A conformance case names the one that it alone must catch. */
export const viewsMutants: Readonly<Record<string, Opener>> = {
  ...registerMutants,
  ...documentMutants,
  ...markMutants,
  ...epochMutants,
};
