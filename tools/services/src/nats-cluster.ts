import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamManager, type NatsConnection, connect } from 'nats';
import { freePort } from './free-port.ts';
import { greets, natsConfiguration, natsProgram } from './nats.ts';
import { OwnFolder } from './own-folder.ts';
import { Server } from './server.ts';

export interface NatsMember {
  readonly name: string;
  readonly server: Server;
}

const MEMBERS = ['n1', 'n2', 'n3'];
const readyWithinMs = 60_000;
const portAttempts = 3;

/** Three servers that keep each other's streams. Each may be crashed, paused and restarted by itself. */
export class NatsCluster {
  readonly members: readonly NatsMember[];

  private constructor(members: readonly NatsMember[]) {
    this.members = members;
  }

  /** Answers when the three have a leader and take streams of three copies. */
  static async start(parent: string, env: NodeJS.ProcessEnv): Promise<NatsCluster> {
    const program = await natsProgram(env);
    for (let attempt = 1; ; attempt++) {
      const cluster = new NatsCluster(await membersOf(parent, program));
      try {
        await Promise.all(cluster.members.map(({ server }) => server.restart()));
        await cluster.ready();
        return cluster;
      } catch (error) {
        // Somebody took one of the ports in between.
        await cluster.stop();
        if (attempt === portAttempts) throw error;
      }
    }
  }

  get endpoints(): readonly string[] {
    return this.members.map(({ server }) => server.endpoint);
  }

  async leaderOf(stream: string): Promise<NatsMember> {
    const leader = await this.#ask((manager) => manager.streams.info(stream).then(({ cluster }) => cluster?.leader));
    const member = this.members.find(({ name }) => name === leader);
    if (!member) throw new Error(`stream ${stream} has no leader among the members`);
    return member;
  }

  /** Resolves when every member that the cluster knows of is up with the leader. */
  async ready(): Promise<void> {
    const deadline = performance.now() + readyWithinMs;
    for (;;) {
      const failure = await this.#ask(async (manager) => {
        await manager.streams.add({ name: 'READY', subjects: ['ready'], num_replicas: 3 });
        await manager.streams.delete('READY');
      })
        .then(() => undefined)
        .catch((error: unknown) => error);
      if (failure === undefined) break;
      if (performance.now() > deadline) throw failure;
      await sleep(100);
    }
  }

  /** Resolves when every copy of the stream has what its leader has. */
  async inStep(stream: string): Promise<void> {
    const deadline = performance.now() + readyWithinMs;
    for (;;) {
      const lagging = await this.#ask(async (manager) => {
        const { cluster } = await manager.streams.info(stream);
        const replicas = cluster?.replicas ?? [];
        return cluster?.leader === undefined || replicas.length < 2 || replicas.some(({ current }) => !current);
      }).catch(() => true);
      if (!lagging) return;
      if (performance.now() > deadline) throw new Error(`the copies of ${stream} do not get in step`);
      await sleep(50);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map(({ server }) => server.stop()));
  }

  async #ask<T>(question: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    const connection: NatsConnection = await connect({ servers: [...this.endpoints], timeout: 2000 });
    try {
      return await question(await connection.jetstreamManager({ checkAPI: false, timeout: 2000 }));
    } finally {
      await connection.close();
    }
  }
}

async function membersOf(parent: string, program: { file: string; syncs: boolean }): Promise<NatsMember[]> {
  const ports = await freePorts(2 * MEMBERS.length);
  const routes = ports.slice(MEMBERS.length);
  return Promise.all(
    MEMBERS.map(async (name, at) => {
      const [port, route] = [ports[at]!, routes[at]!];
      const folder = await OwnFolder.make(parent, `nats-${name}`);
      const config = path.join(folder.path, 'nats.conf');
      const single = natsConfiguration(port, path.join(folder.path, 'jetstream'), program.syncs);
      await writeFile(config, `server_name: ${name}\n${single}${clusterOf(route, routes)}`);
      const server = new Server({
        ...{ name: `nats-server ${name}`, endpoint: `nats://127.0.0.1:${port}`, folder, file: program.file },
        ...{ args: ['--config', config], stopSignal: 'SIGTERM', dropSignal: 'SIGKILL' },
        answers: () => greets(port),
      });
      return { name, server };
    }),
  );
}

/** No two are the same. */
async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

const clusterOf = (route: number, routes: readonly number[]) => `
cluster {
  name: "tests"
  listen: "127.0.0.1:${route}"
  routes: [${routes.map((one) => `"nats://127.0.0.1:${one}"`).join(', ')}]
}
`;
