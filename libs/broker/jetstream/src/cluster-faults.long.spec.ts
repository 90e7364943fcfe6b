import { clusterTests } from '@tidemark/tools-services/testing';
import { SpecBroker, TENANT, TOPIC, drain, textsOf } from './spec-broker.ts';
import { Publishing, expectOnce } from './spec-publishing.ts';
import { storedIn } from './spec-stored.ts';

const clusterTest = clusterTests();
const OPTIONS = { replicas: 3, timeoutMs: 1000, patienceMs: 15_000 };
const LONG_MS = 300_000;

let spec: SpecBroker;
afterEach(() => spec.end());

function streamOf({ prefix }: SpecBroker): string {
  return `${prefix}_INGEST_${TENANT}`;
}

clusterTest(
  'BRK-4: after kill -9 of one leader after another every answered message is stored once',
  async (cluster) => {
    spec = new SpecBroker(cluster.endpoints, OPTIONS);
    const { broker } = await spec.start();
    const stream = streamOf(spec);
    const killLeader = async () => {
      const { server } = await cluster.leaderOf(stream);
      await server.crash();
      await server.restart();
    };
    const publishing = new Publishing(broker);
    const kills: Promise<void>[] = [];
    for (const answers of [500, 3000, 5500]) publishing.after(answers, () => void kills.push(killLeader()));
    await publishing.run(8000);
    await Promise.all(kills);
    await cluster.inStep(stream);
    expectOnce(await storedIn(cluster.endpoints, stream), publishing.answered);
  },
  LONG_MS,
);

clusterTest(
  'BRK-4: with two of three killed for 5 s nothing is refused for certain, and afterwards every answered message is stored once',
  async (cluster) => {
    spec = new SpecBroker(cluster.endpoints, OPTIONS);
    const { broker } = await spec.start();
    const [one, two] = cluster.members;
    const gone = Promise.withResolvers<void>();
    const publishing = new Publishing(broker).after(500, () => {
      void Promise.all([one!.server.crash(), two!.server.crash()])
        .then(() => spec.pass(5000))
        .then(() => Promise.all([one!.server.restart(), two!.server.restart()]))
        .then(() => gone.resolve(), gone.reject);
    });
    await publishing.run(4000);
    await gone.promise;
    await cluster.inStep(streamOf(spec));
    expectOnce(await storedIn(cluster.endpoints, streamOf(spec)), publishing.answered);
  },
  LONG_MS,
);

clusterTest(
  'BRK-4: a leader that is paused and goes on stores nothing twice, and its messages are taken by the others meanwhile',
  async (cluster) => {
    spec = new SpecBroker(cluster.endpoints, OPTIONS);
    const { broker } = await spec.start();
    const stream = streamOf(spec);
    const publishing = new Publishing(broker).after(300, () => {
      void cluster.leaderOf(stream).then(async ({ server }) => {
        server.pause();
        await spec.pass(20_000);
        server.resume();
      });
    });
    await publishing.run(3000);
    await cluster.ready();
    await cluster.inStep(stream);
    expectOnce(await storedIn(cluster.endpoints, stream), publishing.answered);
  },
  LONG_MS,
);

clusterTest(
  'BRK-5: while leaders are killed every message is delivered, and what was acked stays acked',
  async (cluster) => {
    spec = new SpecBroker(cluster.endpoints, OPTIONS);
    const { broker, worker } = await spec.start();
    const stream = streamOf(spec);
    const kills: Promise<void>[] = [];
    const kill = async () => {
      const { server } = await cluster.leaderOf(stream);
      await server.crash();
      await server.restart();
    };
    const publishing = new Publishing(broker).after(400, () => void kills.push(kill()));
    const seen = new Map<string, number>();
    const acked = new Set<string>();
    const again: string[] = [];
    let ended = false;
    const consuming = (async () => {
      while (!ended || seen.size < 2000) {
        const deliveries = await worker.fetch(50, 1000).catch(() => []);
        for (const text of textsOf(deliveries)) {
          if (acked.has(text)) again.push(text);
          seen.set(text, (seen.get(text) ?? 0) + 1);
        }
        await worker.ack(deliveries).then(
          () => textsOf(deliveries).forEach((text) => acked.add(text)),
          () => {},
        );
      }
    })();
    await publishing.run(2000);
    ended = true;
    await consuming;
    await Promise.all(kills);
    expect(new Set(seen.keys()).size).toBe(2000);
    expect(again).toEqual([]);
    expect(await drain(worker)).toEqual([]);
  },
  LONG_MS,
);

clusterTest(
  'BRK-3: two processes fill a queue to its end: what was answered is stored, and every key can be used when there is room again',
  async (cluster) => {
    spec = new SpecBroker(cluster.endpoints, OPTIONS);
    const { broker, worker } = await spec.start({}, 100_000n);
    const other = await spec.open();
    const publish = (n: number) =>
      (n % 2 === 0 ? broker : other).publish(TOPIC, Buffer.from(`${n}`.padEnd(1000)), { idempotencyKey: `key ${n}` });
    const outcomes = await Promise.all(Array.from({ length: 200 }, (_, n) => publish(n)));
    const answered = new Map(
      outcomes.flatMap((outcome, n) => ('seq' in outcome ? [[`key ${n}`, outcome.seq] as const] : [])),
    );
    expectOnce(await storedIn(cluster.endpoints, streamOf(spec)), answered);
    expect(answered.size).toBeGreaterThan(50);
    expect(answered.size).toBeLessThan(100);

    const first = await worker.fetch(1000, 0);
    await worker.ack(first);
    await broker.openQueue(TENANT, 1_000_000n);
    await spec.pass(100);
    for (let n = 0; n < 200; n++) {
      const outcome = await publish(n);
      expect(outcome).toMatchObject({ kind: answered.has(`key ${n}`) ? 'duplicate' : 'stored' });
    }
  },
  LONG_MS,
);
