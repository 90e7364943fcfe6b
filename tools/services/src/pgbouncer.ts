import { chown, copyFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { systemPackage } from './debian.ts';
import { OwnFolder } from './own-folder.ts';
import { type Owner, answers, unprivileged } from './postgres.ts';
import { onPath } from './programs.ts';
import { type Server, startOnFreePort } from './server.ts';

/** Each transaction runs on whichever server connection is free; whoever connects is the superuser. */
export async function startPgbouncer(parent: string, env: NodeJS.ProcessEnv, postgres: string): Promise<Server> {
  const folder = await OwnFolder.make(parent, 'pgbouncer');
  const owner = await unprivileged();
  if (owner) await chown(folder.path, owner.uid, owner.gid);
  try {
    const program = (await onPath('pgbouncer', env)) ?? (await fetched(folder.path, env));
    return await start(folder, owner, program, new URL(postgres));
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

function start(folder: OwnFolder, owner: Owner | undefined, program: string, upstream: URL): Promise<Server> {
  const config = path.join(folder.path, 'pgbouncer.ini');
  return startOnFreePort(folder, async (port) => {
    await writeFile(config, configuration(port, upstream));
    const endpoint = `postgres://postgres@127.0.0.1:${port}${upstream.pathname}`;
    return {
      name: 'pgbouncer',
      endpoint,
      folder,
      // The libraries that came with it lie beside it. `env` becomes the program, so the process is the same.
      file: '/usr/bin/env',
      args: [`LD_LIBRARY_PATH=${folder.path}`, program, config],
      owner,
      stopSignal: 'SIGINT',
      dropSignal: 'SIGKILL',
      answers: () => answers(endpoint),
    };
  });
}

const configuration = (port: number, upstream: URL) => `
[databases]
* = host=${upstream.hostname} port=${upstream.port} user=${upstream.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 400
`;

/** Copied, for the cache lies in a home folder, which its user may not enter. */
async function fetched(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const unpacked = await systemPackage('pgbouncer', /^lib(event|c-ares|cares)/, env);
  const program = path.join(folder, 'pgbouncer');
  await copyFile(path.join(unpacked, 'usr', 'sbin', 'pgbouncer'), program);
  const libraries = await readdir(path.join(unpacked, 'usr', 'lib'), { recursive: true, withFileTypes: true });
  for (const { name, parentPath } of libraries.filter((file) => file.name.includes('.so'))) {
    await copyFile(path.join(parentPath, name), path.join(folder, name));
  }
  return program;
}
