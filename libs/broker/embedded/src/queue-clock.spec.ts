import { ACK_WAIT_MS, SpecQueue, tell, textsOf } from './spec-queue.ts';

const HOUR_MS = 3_600_000;

let queue: SpecQueue;
beforeEach(async () => (queue = await SpecQueue.make()));
afterEach(() => queue.end());

test('BRK-5: a wall clock that is set back by an hour does not delay a redelivery', async () => {
  const { broker, worker } = await queue.start();
  await tell(broker, 'a');
  await worker.fetch(1, 0);
  queue.time.jumpWall(-HOUR_MS);
  // Nobody writes meanwhile: the fetch itself has to notice.
  const fetching = worker.fetch(1, 2 * ACK_WAIT_MS);
  await queue.pass(ACK_WAIT_MS + 2000);
  expect(textsOf(await fetching)).toEqual(['a']);
});

test('BRK-2: a wall clock that is set back by an hour does not make the window longer, for any process', async () => {
  const { broker } = await queue.start();
  const other = await queue.open();
  await tell(broker, 'a', 'key');
  queue.time.jumpWall(-HOUR_MS);
  expect((await tell(other, 'a', 'key')).kind).toBe('duplicate');
  await queue.pass(broker.duplicateWindowMs + 2000);
  expect((await tell(broker, 'a', 'key')).kind).toBe('stored');
});

test('BRK-5: a wall clock that is set back by an hour does not make a lease longer', async () => {
  const broker = await queue.open();
  await broker.acquireLease('intake', 'a', 10_000);
  queue.time.jumpWall(-HOUR_MS);
  expect(await broker.acquireLease('intake', 'b', 10_000)).toBeNull();
  await queue.pass(12_000);
  expect(await broker.acquireLease('intake', 'b', 10_000)).not.toBeNull();
});

test('BRK-2: small steps of the wall clock, to and fro, let no key through early', async () => {
  const { broker } = await queue.start();
  await tell(broker, 'a', 'key');
  for (let step = 0; step < 100; step++) {
    queue.time.jumpWall(step % 2 === 0 ? -900 : 900);
    expect((await tell(broker, 'a', 'key')).kind).toBe('duplicate');
  }
  await queue.pass(broker.duplicateWindowMs - 2000);
  expect((await tell(broker, 'a', 'key')).kind).toBe('duplicate');
});

test('BRK-5: a lease, an ack wait and a window last to the millisecond', async () => {
  const { broker, worker } = await queue.start({ duplicateWindowMs: 5000 });
  await tell(broker, 'a', 'key');
  await worker.fetch(1, 0);
  await broker.acquireLease('intake', 'a', 5000);
  await queue.pass(4999);
  expect((await tell(broker, 'a', 'key')).kind).toBe('duplicate');
  expect(await broker.acquireLease('intake', 'b', 5000)).toBeNull();
  await queue.pass(1);
  expect((await tell(broker, 'a', 'key')).kind).toBe('stored');
  expect(await broker.acquireLease('intake', 'b', 5000)).not.toBeNull();
  await worker.fetch(1, 0);
  await queue.pass(ACK_WAIT_MS - 5001);
  expect(await worker.fetch(1, 0)).toEqual([]);
  await queue.pass(1);
  expect(textsOf(await worker.fetch(1, 0))).toEqual(['a']);
});
