import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { ServerAbsent } from './absent.ts';
import { OwnFolder } from './own-folder.ts';
import { isThere, onPath, run } from './programs.ts';

// A stable suite keeps its versions, and its Go programs run on older Debians as they are.
const suite = 'trixie';
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * One file of a package of Debian's stable suite, unpacked into a cache folder (`TIDEMARK_CACHE`, default
 * `~/.cache/tidemark`) and kept there. apt works on a private state: needs no root, and the system's apt stays untouched.
 */
export async function debianFile(packageName: string, file: string, env: NodeJS.ProcessEnv): Promise<string> {
  const unpacked = path.join(cacheFolder(env), suite, packageName);
  if (!(await isThere(path.join(unpacked, file)))) await fetchPackage(packageName, unpacked, env);
  return path.join(unpacked, file);
}

async function fetchPackage(packageName: string, unpacked: string, env: NodeJS.ProcessEnv): Promise<void> {
  if (!(await onPath('apt-get', env)) || !(await onPath('dpkg', env))) {
    throw new ServerAbsent(`${packageName} is not on PATH, and there is no apt-get to fetch it with`);
  }
  const folder = await OwnFolder.make(tmpdir(), 'apt');
  const state = folder.path;
  try {
    const apt = await privateApt(state);
    await run('apt-get', [...apt, 'update']);
    await run('apt-get', [...apt, 'download', `${packageName}/${suite}`], { cwd: state });
    const archive = (await readdir(state)).find((name) => name.endsWith('.deb'));
    if (archive === undefined) throw new Error(`apt-get downloaded no package ${packageName}`);
    await run('dpkg', ['-x', path.join(state, archive), path.join(state, 'unpacked')]);
    await putInPlace(path.join(state, 'unpacked'), unpacked);
  } catch (error) {
    throw new ServerAbsent(`${packageName} is not on PATH and could not be fetched: ${(error as Error).message}`);
  } finally {
    await folder.remove();
  }
}

/** apt's options for a state of its own below `state`, which knows one source: the stable suite on the system's mirror. */
async function privateApt(state: string): Promise<string[]> {
  await mkdir(path.join(state, 'lists', 'partial'), { recursive: true });
  await mkdir(path.join(state, 'cache', 'archives', 'partial'), { recursive: true });
  const own = [
    ...['-o', `Dir::State::lists=${path.join(state, 'lists')}`],
    ...['-o', `Dir::Cache=${path.join(state, 'cache')}`],
    ...['-o', 'APT::Sandbox::User=root'],
  ];
  const sources = path.join(state, 'sources.list');
  await writeFile(sources, `deb [signed-by=${keyring}] ${await mirror(own)} ${suite} main\n`);
  return [...own, '-o', `Dir::Etc::sourcelist=${sources}`, '-o', 'Dir::Etc::sourceparts=/dev/null'];
}

/** The Debian mirror that this system's apt uses. With empty package lists apt cannot tell whose a source is. */
async function mirror(own: readonly string[]): Promise<string> {
  const ask = ['indextargets', '--format', '$(REPO_URI)', 'Label: Debian'];
  const known = await run('apt-get', ask);
  if (known) return known.split('\n')[0] ?? '';
  await run('apt-get', [...own, 'update']);
  const [asked] = (await run('apt-get', [...own, ...ask])).split('\n');
  if (!asked) throw new Error('apt knows no Debian mirror');
  return asked;
}

/** A rename, so that nobody sees half a package; whoever comes second keeps the first one's. */
async function putInPlace(from: string, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true });
  const beside = await mkdtemp(`${to}-`);
  await run('cp', ['-a', `${from}/.`, beside]);
  await rename(beside, to).catch(() => rm(beside, { recursive: true, force: true }));
}

/**
 * A package of the system's own suite, unpacked into the cache folder with those packages it depends on whose names match `libraries`.
 * Answers the folder.
 */
export async function systemPackage(name: string, libraries: RegExp, env: NodeJS.ProcessEnv): Promise<string> {
  const unpacked = path.join(cacheFolder(env), 'system', name);
  if (await isThere(unpacked)) return unpacked;
  if (!(await onPath('apt-get', env)) || !(await onPath('dpkg', env))) {
    throw new ServerAbsent(`${name} is not on PATH, and there is no apt-get to fetch it with`);
  }
  const folder = await OwnFolder.make(tmpdir(), 'apt');
  try {
    const depends = await run('apt-cache', ['depends', '--no-recommends', '--no-suggests', name]);
    const needed = [...depends.matchAll(/Depends: (\S+)/g)].map(([, one]) => one as string);
    const download = ['download', name, ...needed.filter((one) => libraries.test(one))];
    const fetch = () => run('apt-get', download, { cwd: folder.path });
    await fetch().catch(() => run('apt-get', ['update']).then(fetch));
    for (const archive of (await readdir(folder.path)).filter((file) => file.endsWith('.deb'))) {
      await run('dpkg', ['-x', path.join(folder.path, archive), path.join(folder.path, 'unpacked')]);
    }
    await putInPlace(path.join(folder.path, 'unpacked'), unpacked);
    return unpacked;
  } catch (error) {
    throw new ServerAbsent(`${name} is not on PATH and could not be fetched: ${(error as Error).message}`);
  } finally {
    await folder.remove();
  }
}

/** Where what was fetched or made stays for the next time. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  return env['TIDEMARK_CACHE'] || path.join(homedir(), '.cache', 'tidemark');
}

/** Installs the system's own Postgres package. */
export async function installPostgres(env: NodeJS.ProcessEnv): Promise<void> {
  if (process.getuid?.() !== 0 || !(await onPath('apt-get', env))) {
    throw new ServerAbsent('no initdb on PATH or in /usr/lib/postgresql, and no root with apt-get to install Postgres');
  }
  const install = ['install', '-y', '--no-install-recommends', 'postgresql'];
  const options = { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } };
  try {
    await run('apt-get', ['update'], options);
    await run('apt-get', install, options);
  } catch (error) {
    throw new ServerAbsent(`Postgres could not be installed: ${(error as Error).message}`);
  }
}
