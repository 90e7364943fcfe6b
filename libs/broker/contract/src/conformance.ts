import { budgetCases } from './conformance/budget.ts';
import { deadLetterCases } from './conformance/dead-letters.ts';
import { deliverCases, waitCases } from './conformance/delivering.ts';
import type { BrokerCase } from './conformance/harness.ts';
import { leaseCases } from './conformance/leases.ts';
import { notifyCases } from './conformance/notifying.ts';
import { publishCases } from './conformance/publishing.ts';
import { repeatCases } from './conformance/repeats.ts';

export { type BrokerCase, type BrokerHarness } from './conformance/harness.ts';

/** What every broker does (BRK-1). */
export const brokerConformance: readonly BrokerCase[] = [
  ...publishCases,
  ...repeatCases,
  ...budgetCases,
  ...deliverCases,
  ...waitCases,
  ...deadLetterCases,
  ...leaseCases,
  ...notifyCases,
];
