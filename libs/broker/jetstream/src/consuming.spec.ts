import { serverTests } from '@tidemark/tools-services/testing';
import { SpecBroker, TENANT, TOPIC, drain, tell, textsOf } from './spec-broker.ts';
import { operatorOf } from './spec-operator.ts';

const natsTest = serverTests('nats');

let spec: SpecBroker;
afterEach(() => spec.end());

// kills: pulls.ts: max_bytes: bytesMax => max_bytes: 1 << 30
natsTest('OPS-4: a fetch gives some megabytes at once, and the rest to the next ones', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const { broker, worker } = await spec.start();
  for (let n = 0; n < 24; n++) await tell(broker, `${n}`.padEnd(1_000_000));
  // A server tells its consumers a moment after it answered the publisher.
  while ((await worker.pending()) < 24n);
  const first = await worker.fetch(1000, 0);
  expect(first.length).toBeGreaterThan(10);
  expect(first.length).toBeLessThan(20);
  await worker.ack(first);
  expect(await drain(worker)).toHaveLength(24 - first.length);
});

natsTest('BRK-5: several fetches of one consumer wait side by side', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const { broker, worker } = await spec.start();
  const fetches = [worker.fetch(1, 20_000), worker.fetch(1, 20_000)];
  await spec.pass(100);
  for (const text of ['a', 'b']) await tell(broker, text);
  expect((await Promise.all(fetches)).flatMap(textsOf).sort()).toEqual(['a', 'b']);
});

natsTest('BRK-5: a delivery that somebody copied can be acked', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const { broker, worker } = await spec.start();
  await tell(broker, 'a');
  const [delivery] = await worker.fetch(1, 0);
  await worker.ack([{ ...delivery! }]);
  expect(await worker.pending()).toBe(0n);
});

natsTest(
  'BRK-5: a message that an operator published by hand is delivered, and its headers do not matter',
  async (nats) => {
    spec = new SpecBroker(nats.endpoint);
    const { worker } = await spec.start();
    await using operator = await operatorOf(nats.endpoint);
    await operator.connection.jetstream().publish(`${spec.prefix}.ingest.${TENANT}.a%zz`, 'by hand');
    const [delivery] = await worker.fetch(1, 0);
    expect(delivery).toMatchObject({ topic: { tenant: TENANT, table: 'a%zz' }, idempotencyKey: null, attempt: 1 });
  },
);

natsTest('BRK-5: the ack wait of a durable name follows who consumes under it', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const { broker } = await spec.start();
  await broker.consume(TENANT, { name: 'worker', ackWaitMs: 7000 });
  await using operator = await operatorOf(nats.endpoint);
  const { config } = await operator.consumers.info(`${spec.prefix}_INGEST_${TENANT}`, 'worker');
  expect(config.ack_wait).toBe(7e9);
});

natsTest('BRK-5: a reason of any length and kind is kept as far as it fits', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const { broker, worker } = await spec.start();
  await broker.publish(TOPIC, new Uint8Array(broker.bodyBytesMax), { idempotencyKey: 'k'.repeat(2000) });
  const [delivery] = await worker.fetch(1, 0);
  for (const reason of ['', 'a\r\nb', '🙂'.repeat(5000), 'x'.repeat(1_000_000), '\ud800'])
    await worker.deadLetter(delivery!, reason);
  const letters = await broker.deadLetters(TENANT, 0n, 10);
  const reasons = letters.map(({ reason }) => reason);
  expect(reasons.slice(0, 2)).toEqual(['', 'a\r\nb']);
  expect(reasons[2]).toMatch(/^(🙂)+\ufffd?$/u);
  expect(reasons[3]).toMatch(/^x{1000,2048}$/);
  expect(letters[0]).toMatchObject({ idempotencyKey: 'k'.repeat(2000), queue: delivery!.queue, seq: delivery!.seq });
});
