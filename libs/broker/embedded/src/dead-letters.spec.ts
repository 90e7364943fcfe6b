import { SpecQueue, TENANT, drain, tell } from './spec-queue.ts';

let queue: SpecQueue;
beforeEach(async () => (queue = await SpecQueue.make()));
afterEach(() => queue.end());

test('BRK-5: a message that is parked again after a redelivery is one dead letter', async () => {
  const { broker, worker } = await queue.start();
  await tell(broker, 'poison');
  for (const reason of ['unreadable', 'unreadable still']) {
    const [delivery] = await worker.fetch(1, 0);
    await worker.deadLetter(delivery!, reason);
    await worker.nak([delivery!], 0);
  }
  const letters = await broker.deadLetters(TENANT, 0n, 10);
  expect(letters.map(({ reason }) => reason)).toEqual(['unreadable']);
});

test('ING-9: dead letters stay in the budget of their tenant until an operator removes them', async () => {
  const { broker, worker } = await queue.start({}, 2500n);
  for (const text of ['1', '2']) await tell(broker, text.padEnd(1000));
  // Parking is never refused, though the copies stand beside the messages for a moment.
  for (const delivery of await worker.fetch(2, 0)) await worker.deadLetter(delivery, 'unreadable');
  await queue.pass(60_000);
  expect(await drain(worker)).toHaveLength(2);
  expect((await tell(broker, '3'.padEnd(1000))).kind).toBe('full');
  const [first] = await broker.deadLetters(TENANT, 0n, 1);
  await broker.removeDeadLetter(TENANT, first!.id);
  expect((await tell(broker, '3'.padEnd(1000))).kind).toBe('stored');
  expect(await broker.stats(TENANT)).toMatchObject({ messages: 1n, deadLetters: 1n });
});
