import { type NatsConnection, connect } from 'nats';
import { type NatsCluster, clusterTests } from './testing.ts';

const clusterTest = clusterTests();

clusterTest(
  'a stream of three copies goes on when its leader is killed, and the member comes back in step',
  async (cluster) => {
    await using client = await connected(cluster);
    const manager = await client.connection.jetstreamManager();
    await manager.streams.add({ name: 'KEPT', subjects: ['kept'], num_replicas: 3 });
    const publish = (msgID: string) =>
      untilAnswered(() => client.connection.jetstream().publish('kept', 'hello', { msgID }));
    await publish('one');

    const leader = await cluster.leaderOf('KEPT');
    await leader.server.crash();
    expect(await publish('two')).toMatchObject({ seq: 2, duplicate: false });
    expect(await publish('one')).toMatchObject({ seq: 1, duplicate: true });
    expect(await cluster.leaderOf('KEPT')).not.toBe(leader);

    await leader.server.restart();
    await cluster.inStep('KEPT');
  },
  60_000,
);

async function connected(cluster: NatsCluster) {
  const connection: NatsConnection = await connect({ servers: [...cluster.endpoints], maxReconnectAttempts: -1 });
  return { connection, [Symbol.asyncDispose]: () => connection.close() };
}

async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
