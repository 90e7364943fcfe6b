import { chown, readdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ServerAbsent } from './absent.ts';
import { installPostgres } from './debian.ts';
import { OwnFolder } from './own-folder.ts';
import { isThere, onPath, run } from './programs.ts';
import { type Server, startOnFreePort } from './server.ts';

/** PEM texts that a server shows to who asks for TLS. */
export interface ServerCertificate {
  readonly certificate: string;
  readonly key: string;
}

/**
 * A new Postgres cluster with fsync on, reached over loopback TCP as the superuser `postgres` without a password; over TLS too when it
 * is given a certificate.
 */
export async function startPostgres(
  parent: string,
  env: NodeJS.ProcessEnv,
  tls?: ServerCertificate | undefined,
): Promise<Server> {
  const bin = (await installed(env)) ?? (await installPostgres(env).then(() => installed(env)));
  if (bin === undefined) throw new ServerAbsent('Postgres was installed, but its programs are nowhere to be found');
  const folder = await OwnFolder.make(parent, 'postgres');
  const data = path.join(folder.path, 'data');
  const owner = await unprivileged();
  if (owner) await chown(folder.path, owner.uid, owner.gid);
  // Making the cluster need not survive a power cut; what is written to it later must, and is synced.
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
  await run(path.join(bin, 'initdb'), initdb, { cwd: folder.path, ...owner });
  const options = [...settings, ...(tls === undefined ? [] : await tlsSettings(tls, folder.path, owner))];
  return startOnFreePort(folder, async (port) => ({
    name: 'Postgres',
    endpoint: url(port),
    folder,
    file: path.join(bin, 'postgres'),
    args: ['-D', data, '-p', String(port), ...options.flatMap((setting) => ['-c', setting])],
    owner,
    stopSignal: 'SIGINT', // "fast": does not wait for clients to leave
    dropSignal: 'SIGQUIT', // "immediate", yet removes its shared memory, which SIGKILL leaves
    answers: () => answers(url(port)),
  }));
}

const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=on', 'synchronous_commit=on'];

async function tlsSettings(tls: ServerCertificate, folder: string, owner?: Owner): Promise<string[]> {
  const [certificate, key] = [path.join(folder, 'server.pem'), path.join(folder, 'server.key')];
  await writeFile(certificate, tls.certificate);
  await writeFile(key, tls.key, { mode: 0o600 });
  if (owner) await chown(key, owner.uid, owner.gid);
  return ['ssl=on', `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`];
}

const url = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;

/** The folder of Postgres' programs: beside the `initdb` on PATH (through its links), else Debian's newest. */
async function installed(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const initdb = await onPath('initdb', env);
  const debian = '/usr/lib/postgresql';
  const majors = (await readdir(debian).catch(() => [])).sort((a, b) => Number(b) - Number(a));
  const folders = [
    ...(initdb === undefined ? [] : [path.dirname(await realpath(initdb))]),
    ...majors.map((major) => path.join(debian, major, 'bin')),
  ];
  for (const bin of folders) {
    if ((await isThere(path.join(bin, 'initdb'))) && (await isThere(path.join(bin, 'postgres')))) return bin;
  }
  return undefined;
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Postgres and its poolers refuse to run as root. */
export async function unprivileged(): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return { uid: Number(await run('id', ['-u', 'nobody'])), gid: Number(await run('id', ['-g', 'nobody'])) };
}

export async function answers(connectionString: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
  } finally {
    await client.end().catch(() => {});
  }
}
