import { brokerConformance } from '@tidemark/libs-broker-contract/testing';
import { SpecQueue } from './spec-queue.ts';

let queue: SpecQueue;
beforeEach(async () => (queue = await SpecQueue.make()));
afterEach(() => queue.end());

describe('EmbeddedBroker', () => {
  test.each(brokerConformance)('$title', ({ run }) => run(queue));
});
