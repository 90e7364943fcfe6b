import type { Delivery } from '@tidemark/libs-broker-contract';
import { ACK_WAIT_MS, SpecQueue, TENANT, drain, tell, tellAll, textsOf } from './spec-queue.ts';

let queue: SpecQueue;
beforeEach(async () => (queue = await SpecQueue.make()));
afterEach(() => queue.end());

test('OPS-4: ten thousand deliveries may be unacked; then new ones wait, and an ack lets a waiting fetch go on', async () => {
  const { broker, worker } = await queue.start();
  await tellAll(broker, 10_010);
  const deliveries: Delivery[] = [];
  for (let fetch = 0; fetch < 11; fetch++) deliveries.push(...(await worker.fetch(1000, 0)));
  expect(deliveries).toHaveLength(10_000);
  expect(await worker.pending()).toBe(10_010n);
  const fetching = worker.fetch(1000, 60_000);
  await queue.pass(200);
  await worker.ack(deliveries.slice(0, 4));
  await queue.pass(200);
  expect(textsOf(await fetching)).toEqual(['10000', '10001', '10002', '10003']);
});

test('OPS-4: a fetch gives sixteen megabytes of bodies at most, and one body at least', async () => {
  const { broker, worker } = await queue.start({ bodyBytesMax: 20_000_000 });
  for (const megabytes of [17, 9, 9, 6]) await tell(broker, ''.padEnd(megabytes * 1_000_000));
  const counts: number[] = [];
  for (let fetch = 0; fetch < 4; fetch++) counts.push((await worker.fetch(10, 0)).length);
  expect(counts).toEqual([1, 1, 2, 0]);
});

test('BRK-5: redeliveries come before new messages, all in queue order', async () => {
  const { broker, worker } = await queue.start();
  await tellAll(broker, 4);
  const deliveries = await worker.fetch(3, 0);
  await worker.nak([deliveries[2]!, deliveries[0]!], 0);
  const again = await worker.fetch(10, 0);
  expect(again.map(({ body, attempt }) => [Buffer.from(body).toString(), attempt])).toEqual([
    ['0', 2],
    ['2', 2],
    ['3', 1],
  ]);
});

test('BRK-5: a nak of an attempt that was given out again meanwhile changes nothing', async () => {
  const { broker, worker } = await queue.start();
  await tell(broker, 'a');
  const stale = await worker.fetch(1, 0);
  await queue.pass(ACK_WAIT_MS);
  expect(await worker.fetch(1, 0)).toHaveLength(1);
  await worker.nak(stale, 0);
  expect(await worker.fetch(1, 0)).toEqual([]);
});

test('BRK-5: acks in any order and grouping leave nothing behind', async () => {
  const { broker, worker } = await queue.start();
  await tellAll(broker, 300);
  const deliveries = await worker.fetch(300, 0);
  const groups = [2, 0, 1].map((rest) => deliveries.filter((_, at) => at % 3 === rest).reverse());
  await Promise.all(groups.map((group) => worker.ack(group)));
  expect(await broker.stats(TENANT)).toMatchObject({ messages: 0n, bytes: 0n });
  expect(await worker.pending()).toBe(0n);
});

test('I31: of a durable name that stopped, everything stays, is counted as pending, and fills the queue', async () => {
  const { broker, worker } = await queue.start({}, 100_000n);
  const stopped = await broker.consume(TENANT, { name: 'stopped', ackWaitMs: ACK_WAIT_MS });
  let stored = 0n;
  while ((await tell(broker, ''.padEnd(1000))).kind === 'stored') stored++;
  expect(await drain(worker)).toHaveLength(Number(stored));
  expect((await tell(broker, ''.padEnd(1000))).kind).toBe('full');
  expect([await worker.pending(), await stopped.pending()]).toEqual([0n, stored]);
});

test('BRK-5: a delivery of another queue is not acked by mistake', async () => {
  const { broker, worker } = await queue.start();
  await broker.openQueue('other', 1_000_000n);
  await broker.publish({ tenant: 'other', table: 'clicks' }, Buffer.from('a'));
  const other = await broker.consume('other', { name: 'worker', ackWaitMs: ACK_WAIT_MS });
  const deliveries = await other.fetch(1, 0);
  await expect(worker.ack(deliveries)).rejects.toThrow('a delivery of this queue');
});

test('BRK-5: a fetch of nothing gives nothing and holds nothing up', async () => {
  const { broker, worker } = await queue.start();
  await tell(broker, 'a');
  expect(await worker.fetch(0, 0)).toEqual([]);
  expect((await tell(broker, 'b')).kind).toBe('stored');
  expect(await drain(worker)).toEqual(['a', 'b']);
});

test('BRK-5: fractions of milliseconds and unbounded counts are taken', async () => {
  const { broker } = await queue.start();
  const worker = await broker.consume(TENANT, { name: 'fractional', ackWaitMs: 1000.5 });
  await tell(broker, 'a');
  await worker.nak(await worker.fetch(Infinity, 0.5), 10.25);
  await queue.pass(11);
  expect(textsOf(await worker.fetch(0.5 + 0.5, 0))).toEqual(['a']);
  expect(await broker.acquireLease('intake', 'a', 333.3)).not.toBeNull();
});

test('ING-9: a budget below zero or beyond 64 bits is refused, one of nothing makes every publish full', async () => {
  const { broker } = await queue.start();
  for (const bytesMax of [-1n, 1n << 63n])
    await expect(broker.openQueue('b', bytesMax)).rejects.toMatchObject({ code: 'invalid' });
  await broker.openQueue(TENANT, 0n);
  expect((await tell(broker, '')).kind).toBe('full');
  expect(await broker.removeDeadLetter(TENANT, 1n << 80n)).toBe(false);
  expect(await broker.deadLetters(TENANT, 1n << 80n, 1)).toEqual([]);
});
