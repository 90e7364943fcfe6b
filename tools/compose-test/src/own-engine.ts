import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerAbsent, cacheFolder, debianFile, isThere, run, systemPackage } from '@tidemark/tools-services';
import { versionOf } from './engine.ts';
import type { Guardian } from './held.ts';

const READY_WITHIN_MS = 30_000;

/** Images and layers are kept here for the next time. */
export const engineFolder = (env: NodeJS.ProcessEnv) => path.join(cacheFolder(env), 'engine');

/**
 * Starts an engine from Debian's packages without installing them. It sets up no bridge of its own and no rule of the firewall, so that
 * nothing of the host's network changes: containers see each other, published ports go through its proxy, and builds use the host's network.
 * Answers the environment in which docker speaks to it.
 */
export async function startEngine(guardian: Guardian, env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new ServerAbsent('an engine can be started here on Linux by root only');
  const folder = await mkdtemp(path.join(tmpdir(), 'tidemark-engine-'));
  const data = path.join(engineFolder(env), 'data');
  await mkdir(data, { recursive: true });
  const programs = await programsIn(folder, env);
  const own = {
    ...env,
    PATH: [...programs.folders, env['PATH'] ?? ''].join(path.delimiter),
    DOCKER_HOST: `unix://${path.join(folder, 'docker.sock')}`,
    DOCKER_CONFIG: await clientConfig(folder, env),
    DOCKER_BUILDKIT: '1',
  };
  const log = path.join(folder, 'dockerd.log');
  const pid = launch(folder, data, log, { ...own, LD_LIBRARY_PATH: programs.libraries });
  guardian.hold({ env: own, engine: { pid, folder, data } });
  await answered(own, pid, log);
  await sweep(own);
  return own;
}

/** A machine that lost its power in the middle of a test left containers behind, which this engine has just started again. */
async function sweep(env: NodeJS.ProcessEnv): Promise<void> {
  const left = (await run('docker', ['ps', '--all', '--quiet'], { env })).split('\n').filter(Boolean);
  if (left.length > 0) await run('docker', ['rm', '--force', '--volumes', ...left], { env });
  for (const kind of ['network', 'volume']) await run('docker', [kind, 'prune', '--force'], { env });
}

function launch(folder: string, data: string, log: string, env: NodeJS.ProcessEnv): number {
  const output = openSync(log, 'a');
  const args = [
    ...['--data-root', data, '--exec-root', path.join(folder, 'exec')],
    // Beside the data: two engines on the same data would spoil it, and the second one refuses to start.
    ...['--pidfile', path.join(path.dirname(data), 'dockerd.pid'), '--host', `unix://${folder}/docker.sock`],
    ...['--storage-driver', 'overlay2', '--bridge', 'none', '--iptables=false', '--ip6tables=false'],
    ...['--ip-forward=false', '--ip-masq=false'],
  ];
  const child = spawn('dockerd', args, { env, detached: true, stdio: ['ignore', output, output], cwd: folder });
  closeSync(output);
  child.on('error', () => {});
  child.unref();
  if (child.pid === undefined) throw new Error('dockerd cannot be started');
  return child.pid;
}

async function answered(env: NodeJS.ProcessEnv, pid: number, log: string): Promise<void> {
  const givesUpAt = performance.now() + READY_WITHIN_MS;
  while ((await versionOf(env)) === null) {
    if (!isAlive(pid) || performance.now() > givesUpAt)
      throw new Error(
        `the engine does not start:\n${(await readFile(log, 'utf8')).trim().split('\n').slice(-8).join('\n')}`,
      );
    await sleep(200);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The folders of dockerd and what it calls, and those of their libraries. */
async function programsIn(folder: string, env: NodeJS.ProcessEnv): Promise<{ folders: string[]; libraries: string }> {
  const docker = await systemPackage('docker.io', /^(containerd|runc|tini|docker-cli|libdevmapper.*)$/, env);
  const runc = await systemPackage('runc', /^libseccomp/, env);
  const iptables = await systemPackage('iptables', /^lib(ip|xtables|mnl|netfilter|nfnetlink|nftnl)/, env);
  const libraries = [docker, runc, iptables].flatMap((unpacked) => librariesOf(unpacked)).join(':');
  const own = path.join(folder, 'bin');
  await mkdir(own);
  // The names of iptables are links that its package makes when it is installed. Names in networks of containers are found through it.
  for (const name of ['iptables', 'ip6tables']) {
    const words = [
      '#!/bin/sh',
      `export LD_LIBRARY_PATH=${libraries} XTABLES_LIBDIR=${librariesOf(iptables)
        .map((at) => path.join(at, 'xtables'))
        .join(':')}`,
      `exec ${path.join(iptables, 'usr/sbin/xtables-nft-multi')} ${name} "$@"`,
    ];
    await writeFile(path.join(own, name), `${words.join('\n')}\n`);
    await chmod(path.join(own, name), 0o755);
  }
  const folders = [own, path.join(docker, 'usr/sbin'), path.join(docker, 'usr/bin')];
  // Newer suites have the client in a package of its own.
  if (!(await isThere(path.join(docker, 'usr/bin/docker'))))
    folders.push(path.dirname(await debianFile('docker-cli', 'usr/bin/docker', env)));
  return { folders, libraries };
}

function librariesOf(unpacked: string): string[] {
  const triplet = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;
  return [path.join(unpacked, 'usr/lib', triplet), path.join(unpacked, 'lib', triplet)];
}

/** docker's plugins for Compose and builds, of the stable suite: older ones know less. */
async function clientConfig(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const config = path.join(folder, 'config');
  await mkdir(path.join(config, 'cli-plugins'), { recursive: true });
  for (const name of ['docker-compose', 'docker-buildx']) {
    const file = await debianFile(name, `usr/libexec/docker/cli-plugins/${name}`, env);
    await symlink(file, path.join(config, 'cli-plugins', name));
  }
  return config;
}
