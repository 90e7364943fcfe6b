import { brokerConformance } from '@tidemark/libs-broker-contract/testing';
import { serverTests } from '@tidemark/tools-services/testing';
import { SpecBroker, conform } from './spec-broker.ts';

const natsTest = serverTests('nats');

/** Shorter than in production, so that its end can be waited for. */
const DUPLICATE_WINDOW_MS = 1000;

for (const one of brokerConformance) {
  natsTest(one.title, ({ endpoint }) =>
    conform(one, () => new SpecBroker(endpoint, { duplicateWindowMs: DUPLICATE_WINDOW_MS })),
  );
}
