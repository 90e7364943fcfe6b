import { serverTests } from '@tidemark/tools-services/testing';
import { SpecBroker, TENANT, drain, tell, textsOf } from './spec-broker.ts';
import { storedIn } from './spec-stored.ts';

const natsTest = serverTests('nats');

/** So that what is acked gets old within a test. */
const SHORT = { duplicateWindowMs: 1000 };
/** A run's age is known to a second. */
const AGED_MS = 2500;

let spec: SpecBroker;
afterEach(() => spec.end());

async function textsStored(endpoint: string): Promise<string[]> {
  return (await storedIn(endpoint, `${spec.prefix}_INGEST_${TENANT}`)).map(({ text }) => text.trim());
}

// kills: trimmer.ts: const bound = which === 'all' ? floor : => const bound = which !== undefined ? floor :
natsTest(
  'BRK-2: an acked message stays for the duplicate window, and goes with the first ack after it',
  async (nats) => {
    spec = new SpecBroker(nats.endpoint, SHORT);
    const { broker, worker } = await spec.start();
    await tell(broker, 'old');
    await drain(worker);
    await tell(broker, 'young');
    await drain(worker);
    expect(await textsStored(nats.endpoint)).toEqual(['old', 'young']);
    expect(await broker.stats(TENANT)).toMatchObject({ messages: 0n, bytes: 0n });
    await spec.pass(AGED_MS);
    await tell(broker, 'new');
    await drain(worker);
    await broker.close();
    expect(await textsStored(nats.endpoint)).toEqual(['new']);
  },
);

// kills: trimmer.ts: one.to <= to && one.storedAtMs < agedMs => false
natsTest('BRK-3: a message that nobody can settle does not keep what was acked after it', async (nats) => {
  spec = new SpecBroker(nats.endpoint, SHORT);
  const { broker, worker } = await spec.start();
  for (const text of ['poison', '2', '3']) await tell(broker, text);
  const [poison, ...others] = await worker.fetch(10, 0);
  await worker.ack(others);
  await worker.nak([poison!], 60_000);
  await spec.pass(AGED_MS);
  await tell(broker, 'new');
  await worker.ack(await worker.fetch(10, 0));
  await broker.close();
  expect(await textsStored(nats.endpoint)).toEqual(['poison', 'new']);
});

natsTest('BRK-3: a full queue gets room from what was acked out of order, also within the window', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const { broker, worker } = await spec.start({}, 5000n);
  for (const text of ['poison', '2', '3', '4']) await tell(broker, text.padEnd(1000));
  expect(await tell(broker, '5'.padEnd(1000))).toMatchObject({ kind: 'full' });
  const [, ...others] = await worker.fetch(10, 0);
  await worker.ack(others);
  expect(await tell(broker, '5'.padEnd(1000))).toMatchObject({ kind: 'stored' });
  expect(await textsStored(nats.endpoint)).toEqual(['poison', '5']);
});

// kills: trimmer.ts: durables.filter((other) => other !== durable) => [] as ConsumerInfo[]
natsTest('BRK-5: what one of two durable names has not acked stays, however full the queue is', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const { broker, worker } = await spec.start({}, 5000n);
  const audit = await broker.consume(TENANT, { name: 'audit', ackWaitMs: 30_000 });
  for (const text of ['1', '2', '3', '4']) await tell(broker, text.padEnd(1000));
  await drain(worker);
  expect(await tell(broker, '5'.padEnd(1000))).toMatchObject({ kind: 'full' });
  const [first, second, third] = await audit.fetch(10, 0);
  await audit.ack([second!, third!]);
  await audit.ack([first!]);
  expect(await tell(broker, '5'.padEnd(1000))).toMatchObject({ kind: 'stored' });
  expect(await textsStored(nats.endpoint)).toEqual(['4', '5']);
});

// kills: durables.ts: opt_start_seq: Number(start) => opt_start_seq: 1
natsTest('BRK-5: a name that joins late gets nothing of what all others have acked', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const { broker, worker } = await spec.start();
  for (const text of ['1', '2', '3']) await tell(broker, text);
  await worker.ack(await worker.fetch(2, 0));
  const late = await (await spec.open()).consume(TENANT, { name: 'late', ackWaitMs: 1000 });
  expect(textsOf(await late.fetch(10, 0))).toEqual(['3']);
});
