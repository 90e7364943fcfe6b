import { clusterTests } from '@tidemark/tools-services/testing';
import { SpecBroker, TENANT, tell } from './spec-broker.ts';
import { Publishing, expectOnce } from './spec-publishing.ts';
import { storedIn } from './spec-stored.ts';

const clusterTest = clusterTests();

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
