import { serverTests, startedHere } from '@tidemark/tools-services/testing';
import { SpecBroker, TENANT, TOPIC, drain, tell, textsOf } from './spec-broker.ts';
import { Publishing, expectOnce } from './spec-publishing.ts';
import { storedIn } from './spec-stored.ts';
import { operatorOf } from './spec-operator.ts';
import { cutProxy } from './spec-proxy.ts';

const natsTest = serverTests('nats');

/** Attempts that are given up sooner than in production. */
const PATIENCE = { timeoutMs: 1000, patienceMs: 20_000 };

let spec: SpecBroker;
afterEach(() => spec.end());

function streamOf({ prefix }: SpecBroker): string {
  return `${prefix}_INGEST_${TENANT}`;
}

natsTest(
  'BRK-4: after kill -9 of the server under publishes every answered message is stored once',
  async (nats) => {
    spec = new SpecBroker(nats.endpoint, PATIENCE);
    const { broker } = await spec.start();
    if (!startedHere('kill -9 of the server', nats)) return;
    const publishing = new Publishing(broker);
    const restart = () => void nats.server.crash().then(() => nats.server.restart());
    for (const answers of [100, 500, 900]) publishing.after(answers, restart);
    await publishing.run(1200);
    expectOnce(await storedIn(nats.endpoint, streamOf(spec)), publishing.answered);
  },
  60_000,
);

natsTest('BRK-2: a repeat is dropped also when its message was acked and the server was killed since', async (nats) => {
  spec = new SpecBroker(nats.endpoint, PATIENCE);
  const { broker, worker } = await spec.start();
  if (!startedHere('kill -9 of the server', nats)) return;
  await tell(broker, 'a', 'key');
  await drain(worker);
  await nats.server.crash();
  await nats.server.restart();
  expect(await tell(broker, 'a', 'key')).toMatchObject({ kind: 'duplicate' });
});

natsTest('BRK-5: delivery goes on after kill -9 of the server, and nothing is lost', async (nats) => {
  spec = new SpecBroker(nats.endpoint, PATIENCE);
  const { broker, worker } = await spec.start();
  if (!startedHere('kill -9 of the server', nats)) return;
  const waiting = worker.fetch(10, 30_000);
  await nats.server.crash();
  const restarting = nats.server.restart();
  await tell(broker, 'a');
  await restarting;
  expect(textsOf(await waiting)).toEqual(['a']);
});

natsTest('BRK-4: a server that is paused loses nothing and stores nothing twice', async (nats) => {
  spec = new SpecBroker(nats.endpoint, PATIENCE);
  const { broker } = await spec.start();
  if (!startedHere('SIGSTOP of the server', nats)) return;
  nats.server.pause();
  const telling = Array.from({ length: 20 }, (_, n) => tell(broker, `${n}`, `key ${n}`));
  // Longer than an attempt: each is sent again, and the server gets all copies at once.
  await spec.pass(1500);
  nats.server.resume();
  const outcomes = await Promise.all(telling);
  const answered = new Map(outcomes.map((outcome, n) => [`key ${n}`, 'seq' in outcome ? outcome.seq : 0n]));
  expectOnce(await storedIn(nats.endpoint, streamOf(spec)), answered);
});

// kills: map-error.ts: if (isSilence(thrown)) return { kind: 'unavailable', detail }; => if (isSilence(thrown)) return { kind: 'full', detail };
natsTest('BRK-4: no answer is no refusal: a publish that stays without one is unavailable', async (nats) => {
  spec = new SpecBroker(nats.endpoint, { timeoutMs: 200, patienceMs: 600 });
  const { broker } = await spec.start();
  if (!startedHere('SIGSTOP of the server', nats)) return;
  nats.server.pause();
  expect(await tell(broker, 'a', 'key')).toMatchObject({ kind: 'unavailable' });
  nats.server.resume();
  expect(await tell(broker, 'a', 'key')).toMatchObject({ kind: 'duplicate' });
});

// kills: publish.ts: msgID: id.text, => msgID: `${Math.random()}`,
natsTest(
  'BRK-2: an answer that is lost on its way is asked for again, and the message is stored once',
  async (nats) => {
    await using proxy = await cutProxy(nats.endpoint);
    spec = new SpecBroker(proxy.endpoint, PATIENCE);
    const { broker, worker } = await spec.start();
    const publishing = new Publishing(broker);
    for (const answers of [50, 150, 250]) publishing.after(answers, () => proxy.loseAnswers());
    await publishing.run(400);
    expectOnce(await storedIn(nats.endpoint, streamOf(spec)), publishing.answered);
    expect(proxy.cuts).toBe(3);
    // An ack whose answer is lost is sent again too.
    const deliveries = await worker.fetch(10, 0);
    proxy.loseAnswers();
    await worker.ack(deliveries);
    expect(await worker.pending()).toBe(400n - BigInt(deliveries.length));
  },
  60_000,
);

// kills: jetstream-consumer.ts: if (!stop.aborted) await this.#durable.restore(); => if (!stop.aborted) await undefined;
natsTest('BRK-5: a durable consumer that is deleted is made again where it was', async (nats) => {
  spec = new SpecBroker(nats.endpoint, PATIENCE);
  const { broker, worker } = await spec.start();
  for (const text of ['1', '2', '3']) await tell(broker, text);
  await worker.ack(await worker.fetch(1, 0));
  await using operator = await operatorOf(nats.endpoint);
  await operator.consumers.delete(streamOf(spec), 'worker');
  expect(textsOf(await worker.fetch(10, 0))).toContain('3');
  expect(spec.log.map(({ message }) => message)).toContain('a durable consumer was deleted and is made again');
});

natsTest('BRK-5: a waiting fetch learns that its consumer was deleted, and gets what comes then', async (nats) => {
  spec = new SpecBroker(nats.endpoint, PATIENCE);
  const { broker, worker } = await spec.start();
  const waiting = worker.fetch(10, 20_000);
  await spec.pass(200);
  await using operator = await operatorOf(nats.endpoint);
  await operator.consumers.delete(streamOf(spec), 'worker');
  await tell(broker, 'a');
  expect(textsOf(await waiting)).toEqual(['a']);
});

// kills: queues.ts: number > known.last => number > -1
natsTest(
  'BRK-4: a queue that is deleted is made again by who opened it, with places above the old ones',
  async (nats) => {
    spec = new SpecBroker(nats.endpoint, PATIENCE);
    const { broker, worker } = await spec.start();
    const before = await tell(broker, 'a');
    const [delivery] = await worker.fetch(1, 0);
    await using operator = await operatorOf(nats.endpoint);
    await operator.streams.delete(streamOf(spec));
    const after = await tell(broker, 'b');
    const [next] = await worker.fetch(10, 0);
    expect(textsOf([next!])).toEqual(['b']);
    expect('seq' in before && 'seq' in after && after.seq > before.seq).toBe(true);
    expect(next!.queue).not.toBe(delivery!.queue);
    // An ack of a delivery of the old queue settles nothing of the new one.
    await worker.ack([delivery!]);
    expect(await worker.pending()).toBe(1n);
  },
);

natsTest('BRK-5: a consumer of a queue that was deleted, and that nobody makes again, says so', async (nats) => {
  spec = new SpecBroker(nats.endpoint, PATIENCE);
  await spec.start();
  const reader = await spec.open();
  const worker = await reader.consume(TENANT, { name: 'other', ackWaitMs: 1000 });
  await using operator = await operatorOf(nats.endpoint);
  await operator.streams.delete(streamOf(spec));
  await expect(worker.fetch(1, 0)).rejects.toMatchObject({ code: 'not_found' });
  expect(await reader.publish(TOPIC, Buffer.from('a'))).toMatchObject({ kind: 'full' });
});

natsTest('BRK-5: a fetch that is aborted while there is no server ends empty', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const { worker } = await spec.start();
  if (!startedHere('kill -9 of the server', nats)) return;
  await nats.server.crash();
  const stop = new AbortController();
  const fetching = worker.fetch(1, 60_000, stop.signal);
  await spec.pass(300);
  stop.abort();
  expect(await fetching).toEqual([]);
  await expect(worker.fetch(1, 200)).rejects.toMatchObject({ code: 'unavailable' });
  await nats.server.restart();
  expect(await worker.fetch(1, 0)).toEqual([]);
  expect(await (await spec.open()).queues()).toContain(TENANT);
});
