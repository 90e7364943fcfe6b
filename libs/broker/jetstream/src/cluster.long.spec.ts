import { brokerConformance } from '@tidemark/libs-broker-contract/testing';
import { clusterTests } from '@tidemark/tools-services/testing';
import { SpecBroker, conform } from './spec-broker.ts';

const clusterTest = clusterTests();
/** Longer than it takes to change a leader. */
const OPTIONS = { replicas: 3, duplicateWindowMs: 6000 };

for (const one of brokerConformance) {
  clusterTest(
    `three servers: ${one.title}`,
    ({ endpoints }) => conform(one, () => new SpecBroker(endpoints, OPTIONS)),
    60_000,
  );
}
