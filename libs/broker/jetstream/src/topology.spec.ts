import { serverTests } from '@tidemark/tools-services/testing';
import { SpecBroker, TENANT, drain, tell } from './spec-broker.ts';
import { operatorOf } from './spec-operator.ts';

const natsTest = serverTests('nats');
const OPERATED = { manageStreams: false, duplicateWindowMs: 120_000 };
const WINDOW_NS = 120e9;

let spec: SpecBroker;
afterEach(() => spec.end());

natsTest('BRK-1: with streams of an operator everything that is wrong is told at once', async (nats) => {
  spec = new SpecBroker(nats.endpoint, OPERATED);
  const { prefix } = spec;
  await using operator = await operatorOf(nats.endpoint);
  await operator.streams.add({
    name: `${prefix}_INGEST_acme`,
    subjects: [`${prefix}.ingest.acme.*`, `${prefix}.more`],
    discard: 'old' as never,
    retention: 'interest' as never,
    duplicate_window: 60e9,
  });
  const expected = { tenants: ['acme', 'b.c'], consumers: ['intake'] };
  const refused = await spec.open({ expected }).catch((thrown: Error) => thrown);
  expect(refused).toMatchObject({ code: 'misconfigured' });
  expect((refused as Error).message.split('\n').slice(1)).toEqual([
    `${prefix}_LEASES: is not there`,
    `${prefix}_INGEST_acme: retention is "interest", must be "limits"`,
    `${prefix}_INGEST_acme: subjects is ["${prefix}.ingest.acme.*","${prefix}.more"], must be ["${prefix}.ingest.acme.*"]`,
    `${prefix}_INGEST_acme: discard is "old", must be "new"`,
    `${prefix}_INGEST_acme: duplicate_window is 60000000000, must be 120000000000`,
    `${prefix}_DLQ_acme: is not there`,
    `${prefix}_INGEST_b=2Ec: is not there`,
    `${prefix}_DLQ_b=2Ec: is not there`,
    `${prefix}_INGEST_acme: the durable consumer intake is not there`,
    `${prefix}_INGEST_b=2Ec: the durable consumer intake is not there`,
  ]);
});

natsTest('BRK-1: streams of an operator are used as they are, and nothing is made or changed', async (nats) => {
  spec = new SpecBroker(nats.endpoint, OPERATED);
  const { prefix } = spec;
  await using operator = await operatorOf(nats.endpoint);
  const queue = `${prefix}_INGEST_${TENANT}`;
  await operator.streams.add({ name: `${prefix}_LEASES`, subjects: [`${prefix}.lease.*`], max_msgs_per_subject: 1 });
  await operator.streams.add({
    ...{ name: queue, subjects: [`${prefix}.ingest.${TENANT}.*`], discard: 'new' as never },
    ...{ max_bytes: 1_000_000, duplicate_window: WINDOW_NS },
  });
  await operator.streams.add({ name: `${prefix}_DLQ_${TENANT}`, subjects: [`${prefix}.dlq.${TENANT}.*`] });
  await operator.consumers.add(queue, { durable_name: 'intake', ack_policy: 'explicit' as never, max_deliver: -1 });

  const broker = await spec.open({ expected: { tenants: [TENANT], consumers: ['intake'] } });
  await broker.openQueue(TENANT, 5n);
  const worker = await broker.consume(TENANT, { name: 'intake', ackWaitMs: 1000 });
  expect(await tell(broker, 'a', 'key')).toMatchObject({ kind: 'stored' });
  expect(await drain(worker)).toEqual(['a']);
  expect(await broker.stats(TENANT)).toMatchObject({ messages: 0n, bytesMax: 1_000_000n });
  await expect(broker.openQueue('other', 5n)).rejects.toMatchObject({ code: 'misconfigured' });
  await expect(broker.consume(TENANT, { name: 'other', ackWaitMs: 1000 })).rejects.toMatchObject({
    code: 'misconfigured',
  });

  // What an operator deletes is not made again: the failure is reported.
  await operator.consumers.delete(queue, 'intake');
  await expect(worker.fetch(1, 0)).rejects.toMatchObject({ code: 'misconfigured' });
});

// kills: queues.ts: differences(info.config, wanted).length === 0) return; => true) return;
natsTest('ING-6: a stream that is there gets the duplicate window, and keeps what is not ours', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const name = `${spec.prefix}_INGEST_${TENANT}`;
  await using operator = await operatorOf(nats.endpoint);
  const subjects = [`${spec.prefix}.ingest.${TENANT}.*`];
  await operator.streams.add({ name, subjects, duplicate_window: 1e9, max_age: 1e12, description: 'mine' });
  const { broker } = await spec.start({}, 1000n);
  expect((await operator.streams.info(name)).config).toMatchObject({
    ...{ duplicate_window: WINDOW_NS, max_age: 0, discard: 'new', max_bytes: 1000, description: 'mine' },
  });
  expect(broker.duplicateWindowMs).toBe(120_000);
});

// kills: queues.ts: if (managed && found => if (!managed && found
natsTest(
  'ING-6: what somebody changes of a queue under a running service is found, told and put right',
  async (nats) => {
    spec = new SpecBroker(nats.endpoint);
    const { broker } = await spec.start({}, 1_000_000n);
    const [queue, deadLetters] = [`${spec.prefix}_INGEST_${TENANT}`, `${spec.prefix}_DLQ_${TENANT}`];
    await using operator = await operatorOf(nats.endpoint);
    await operator.streams.update(queue, { duplicate_window: 5e9, discard: 'old' as never, max_bytes: 2_000_000 });
    await operator.streams.delete(deadLetters);
    expect(await broker.verifyQueues()).toEqual(
      [
        `${queue}: discard is "old", must be "new"`,
        `${queue}: duplicate_window is 5000000000, must be 120000000000`,
        `${deadLetters}: is not there`,
      ].map((detail) => ({ tenant: TENANT, detail, mended: true })),
    );
    expect(await broker.verifyQueues()).toEqual([]);
    expect((await operator.streams.info(queue)).config).toMatchObject({ duplicate_window: WINDOW_NS, discard: 'new' });
    expect((await operator.streams.info(deadLetters)).config.num_replicas).toBe(1);
  },
);

natsTest('ING-6: a queue that is deleted under a running service is there again, with its budget', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const { broker } = await spec.start({}, 1_000_000n);
  const queue = `${spec.prefix}_INGEST_${TENANT}`;
  await using operator = await operatorOf(nats.endpoint);
  await operator.streams.delete(queue);
  expect(await broker.verifyQueues()).toEqual([{ tenant: TENANT, detail: `${queue}: is not there`, mended: true }]);
  expect(await broker.stats(TENANT)).toMatchObject({ messages: 0n, bytesMax: 1_000_000n });
});

// kills: queues.ts: this.ensure(leases)) => this.#info(leases.name))
natsTest(
  'ING-6, BRK-5: leases that are deleted under a running service are there again, with their copies',
  async (nats) => {
    spec = new SpecBroker(nats.endpoint);
    const { broker } = await spec.start();
    await using operator = await operatorOf(nats.endpoint);
    const leases = `${spec.prefix}_LEASES`;
    await operator.streams.delete(leases);
    await expect(broker.acquireLease('intake', 'me', 1000)).rejects.toMatchObject({ outcome: 'not-done' });
    expect(await broker.verifyQueues()).toEqual([{ tenant: null, detail: `${leases}: is not there`, mended: true }]);
    expect((await operator.streams.info(leases)).config).toMatchObject({ max_msgs_per_subject: 1, num_replicas: 1 });
    const lease = await broker.acquireLease('intake', 'me', 1000);
    expect(await lease?.renew()).toBe(true);
  },
);

// kills: queues.ts: ((await this.#info(stream.name)) ? this.ensure(stream) : make()) => make()
natsTest(
  'ING-6: the size stays that of who opened the queue last, also when something else is put right',
  async (nats) => {
    spec = new SpecBroker(nats.endpoint);
    const { broker } = await spec.start({}, 1_000_000n);
    await (await spec.open()).openQueue(TENANT, 2_000_000n);
    expect(await broker.verifyQueues()).toEqual([]);
    await using operator = await operatorOf(nats.endpoint);
    const queue = `${spec.prefix}_INGEST_${TENANT}`;
    await operator.streams.update(queue, { duplicate_window: 5e9 });
    expect(await broker.verifyQueues()).toMatchObject([{ mended: true }]);
    expect((await operator.streams.info(queue)).config).toMatchObject({
      duplicate_window: WINDOW_NS,
      max_bytes: 2_000_000,
    });
  },
);

natsTest('ING-6: of an operator’s queue everything that is otherwise is told at every look, and left', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  await spec.start({}, 1_000_000n);
  const queue = `${spec.prefix}_INGEST_${TENANT}`;
  const broker = await spec.open(OPERATED);
  await broker.openQueue(TENANT, 5n);
  await using operator = await operatorOf(nats.endpoint);
  await operator.streams.update(queue, { duplicate_window: 5e9 });
  const finding = { tenant: TENANT, detail: `${queue}: duplicate_window is 5000000000, must be ${WINDOW_NS}` };
  expect(await broker.verifyQueues()).toEqual([{ ...finding, mended: false }]);
  expect(await broker.verifyQueues()).toEqual([{ ...finding, mended: false }]);
  await operator.streams.update(queue, { duplicate_window: WINDOW_NS });
  expect(await broker.verifyQueues()).toEqual([]);
});

// kills: stream-config.ts: DEAD_LETTER_BYTES_MIN, bytesHeld) => DEAD_LETTER_BYTES_MIN)
natsTest('BRK-3: dead letters get a tenth of the budget, and are never shrunk below what they hold', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const { broker, worker } = await spec.start({}, 100_000_000n);
  await using operator = await operatorOf(nats.endpoint);
  const name = `${spec.prefix}_DLQ_${TENANT}`;
  expect((await operator.streams.info(name)).config).toMatchObject({ max_bytes: 10_000_000, discard: 'old' });
  for (let n = 0; n < 6; n++) await tell(broker, `${n}`.padEnd(1_000_000));
  for (const delivery of await worker.fetch(10, 0)) await worker.deadLetter(delivery, 'unreadable');
  await broker.openQueue(TENANT, 1000n);
  const { config, state } = await operator.streams.info(name);
  expect(state.messages).toBe(6);
  expect(config.max_bytes).toBe(state.bytes);
});

// kills: stream-config.ts: Math.max(1, toNumber(bytesMax)) => toNumber(bytesMax)
natsTest('BRK-3: a budget of nothing is a full queue, not one without a limit', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const { broker } = await spec.start({}, 0n);
  expect(await tell(broker, 'a')).toMatchObject({ kind: 'full' });
});

natsTest('BRK-3: a budget above what the server may store is refused as such', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const broker = await spec.open();
  await expect(broker.openQueue(TENANT, 1n << 60n)).rejects.toMatchObject({ code: 'disk_full', outcome: 'not-done' });
  expect(await broker.queues()).toEqual([]);
});
