import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { debianFile } from './debian.ts';
import { OwnFolder } from './own-folder.ts';
import { onPath, run } from './programs.ts';
import { type Server, startOnFreePort } from './server.ts';

/** One nats-server with JetStream on file storage; from 2.10 on every acked publish is fsynced. */
export async function startNats(parent: string, env: NodeJS.ProcessEnv, added = ''): Promise<Server> {
  const { file, syncs } = await natsProgram(env);
  const folder = await OwnFolder.make(parent, 'nats');
  const config = path.join(folder.path, 'nats.conf');
  return startOnFreePort(folder, async (port) => {
    await writeFile(config, `${natsConfiguration(port, path.join(folder.path, 'jetstream'), syncs)}${added}`);
    return {
      name: 'nats-server',
      endpoint: `nats://127.0.0.1:${port}`,
      folder,
      file,
      args: ['--config', config],
      stopSignal: 'SIGTERM',
      dropSignal: 'SIGKILL',
      answers: () => greets(port),
    };
  });
}

// Without max_file_store the limit is three quarters of the disk that happens to be free.
export const natsConfiguration = (port: number, folder: string, syncs: boolean) => `
listen: "127.0.0.1:${port}"
# On a busy machine a client may take long to say who it is.
authorization { timeout: 30 }
jetstream {
  store_dir: "${folder}"
  max_memory_store: 64MB
  max_file_store: 64GB
  ${syncs ? 'sync_interval: always' : ''}
}
`;

export async function natsProgram(env: NodeJS.ProcessEnv): Promise<{ file: string; syncs: boolean }> {
  const file = (await onPath('nats-server', env)) ?? (await debianFile('nats-server', 'usr/sbin/nats-server', env));
  return { file, syncs: await canSync(file) };
}

/** 2.9 refuses a configuration that knows `sync_interval`. */
async function canSync(file: string): Promise<boolean> {
  const [, major, minor] = /v(\d+)\.(\d+)\./.exec(await run(file, ['--version'])) ?? [];
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 10);
}

/** A server greets with a line `INFO {...}` before the client says anything. */
export async function greets(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    const [greeting] = (await once(socket, 'data', { signal: AbortSignal.timeout(1000) })) as [Buffer];
    if (!/^INFO .*"jetstream":true/.test(greeting.toString())) throw new Error(`greeted with ${greeting.toString()}`);
  } finally {
    socket.on('error', () => {}).destroy();
  }
}
