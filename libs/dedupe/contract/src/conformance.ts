import { callCases } from './conformance/calls.ts';
import { claimCases } from './conformance/claims.ts';
import { clientCases } from './conformance/clients.ts';
import { expiryCases } from './conformance/expiry.ts';
import type { DedupeCase, DedupeManifest } from './conformance/harness.ts';
import { keyCases } from './conformance/keys.ts';

export { type DedupeCase, type DedupeHarness, type DedupeManifest } from './conformance/harness.ts';

/** What every deduplicator does. A backend runs `casesFor` its manifest. */
export const dedupeConformance: readonly DedupeCase[] = [
  ...claimCases,
  ...callCases,
  ...keyCases,
  ...expiryCases,
  ...clientCases,
];

export function casesFor(manifest: DedupeManifest): readonly DedupeCase[] {
  return dedupeConformance.filter((one) => one.needs === undefined || manifest[one.needs]);
}
