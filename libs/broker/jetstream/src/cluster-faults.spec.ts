import { clusterTests } from '@tidemark/tools-services/testing';
import { SpecBroker, TENANT, tell } from './spec-broker.ts';
import { Publishing, expectOnce } from './spec-publishing.ts';
import { operatorOf } from './spec-operator.ts';
import { storedIn } from './spec-stored.ts';

const clusterTest = clusterTests();

// kills: stream-config.ts: lasting({ num_replicas: _, ...wanted }: => lasting({ ...wanted }:
clusterTest(
  'ING-6: copies stay those of who opened the queue last, and so does the size',
  async ({ endpoints }) => {
    const spec = new SpecBroker(endpoints, { timeoutMs: 1000, patienceMs: 20_000 });
    const { broker } = await spec.start({ replicas: 1 }, 1_000_000n);
    await (await spec.open({ replicas: 3 })).openQueue(TENANT, 2_000_000n);
    expect(await broker.verifyQueues()).toEqual([]);
    await using operator = await operatorOf(endpoints);
    expect((await operator.streams.info(`${spec.prefix}_INGEST_${TENANT}`)).config).toMatchObject({
      num_replicas: 3,
      max_bytes: 2_000_000,
    });
    await spec.end();
  },
  120_000,
);

clusterTest(
  'BRK-4: after kill -9 of the leader under publishes every answered message is stored once',
  async (cluster) => {
    const spec = new SpecBroker(cluster.endpoints, { replicas: 3, timeoutMs: 1000, patienceMs: 20_000 });
    const { broker } = await spec.start();
    const stream = `${spec.prefix}_INGEST_${TENANT}`;
    const leader = await cluster.leaderOf(stream);
    const publishing = new Publishing(broker).after(150, () => void leader.server.crash());
    await publishing.run(400);
    expect(await cluster.leaderOf(stream)).not.toBe(leader);
    expect(await tell(broker, '0', 'key 0')).toEqual({ kind: 'duplicate', seq: publishing.answered.get('key 0') });
    await leader.server.restart();
    await cluster.inStep(stream);
    expectOnce(await storedIn(cluster.endpoints, stream), publishing.answered);
    await spec.end();
  },
  120_000,
);
