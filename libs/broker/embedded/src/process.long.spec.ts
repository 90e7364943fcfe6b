import { killPublishers } from './spec-processes.ts';
import { SpecQueue } from './spec-queue.ts';

let queue: SpecQueue;
beforeEach(async () => (queue = await SpecQueue.make()));
afterEach(() => queue.end());

test('BRK-4: after kill -9 of the publisher, again and again, every acknowledged message is in the queue once and in order', async () => {
  const { acknowledged, texts } = await killPublishers(queue, 100);
  expect(texts.length).toBeGreaterThanOrEqual(acknowledged);
  expect(texts).toEqual(texts.map((_, n) => `${n}`));
}, 600_000);
