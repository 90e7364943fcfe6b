import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, cp, mkdtemp, readFile, realpath, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ServerAbsent, debianFile, isThere, onPath, run, systemPackage } from '@tidemark/tools-services';
import type { Engine } from './engine.ts';
import type { Guardian } from './held.ts';
import { engineFolder } from './own-engine.ts';

const recipes = path.join(import.meta.dirname, '../stand-ins');
const SUITE = 'bookworm';

/** Of the stand-ins' Dockerfile, by the tag that the apps' Dockerfile and the compose file ask for. */
interface Target {
  readonly target: string;
  /** Beside the Dockerfile, what it is made of that may change here. */
  readonly script?: string;
}

const TARGETS: Readonly<Record<string, Target>> = {
  'node:24-bookworm': { target: 'node' },
  'node:24-bookworm-slim': { target: 'node' },
  'nats:2-alpine': { target: 'nats' },
  'amazon/dynamodb-local': { target: 'dynamodb', script: 'dynamodb.sh' },
  'postgres:16': { target: 'postgres', script: 'postgres.sh' },
};

/** Makes stand-ins for images that would be pulled, from Debian's packages and npm's; none is made again while its recipe is the same. */
export async function makeBaseImages(
  { env }: Engine,
  guardian: Guardian,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const missing: (Target & { readonly tag: string; readonly recipe: string })[] = [];
  for (const [tag, target] of Object.entries(TARGETS)) {
    const recipe = await recipeOf(target);
    if ((await labelOf(tag, env)) !== recipe) missing.push({ ...target, tag, recipe });
  }
  if (missing.length === 0) return say('the base images are there from last time');
  const workshop = await mkdtemp(path.join(engineFolder(env), 'workshop-'));
  guardian.hold({ workshop });
  const file = path.join(engineFolder(env), `${SUITE}.tar`);
  if (!(await isThere(file))) {
    say('making a smallest Debian (one to three minutes, once)');
    await makeRootFileSystem(file, workshop, env, guardian, signal);
  }
  const context = path.join(workshop, 'context');
  await fill(context, file, env);
  for (const { tag, target, recipe } of missing) {
    say(`making ${tag}`);
    const options = ['--network', 'host', '--target', target, '--tag', tag, '--label', `recipe=${recipe}`];
    await run('docker', ['build', '--quiet', ...options, context], { env, signal });
  }
}

async function recipeOf({ script }: Target): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  for (const file of ['Dockerfile', ...(script === undefined ? [] : [script])])
    hash.update(await readFile(path.join(recipes, file)));
  return hash.digest('hex');
}

const labelOf = (tag: string, env: NodeJS.ProcessEnv) =>
  run('docker', ['image', 'inspect', '--format', '{{index .Config.Labels "recipe"}}', tag], { env }).catch(() => null);

async function fill(context: string, rootFileSystem: string, env: NodeJS.ProcessEnv): Promise<void> {
  await cp(recipes, context, { recursive: true });
  await copyFile(rootFileSystem, path.join(context, 'rootfs.tar'));
  await copyFile(process.execPath, path.join(context, 'node'));
  await cp(await npmFolder(env), path.join(context, 'npm'), { recursive: true });
  const nats = (await onPath('nats-server', env)) ?? (await debianFile('nats-server', 'usr/sbin/nats-server', env));
  await copyFile(nats, path.join(context, 'nats-server'));
  const dynoxide = `@dynoxide/${process.platform}-${process.arch}/package.json`;
  const manifest = createRequire(import.meta.filename).resolve(dynoxide);
  await copyFile(path.join(path.dirname(manifest), 'dynoxide'), path.join(context, 'dynoxide'));
  const authorities = env['NODE_EXTRA_CA_CERTS'] || '/etc/ssl/certs/ca-certificates.crt';
  await copyFile(authorities, path.join(context, 'ca-certificates.crt'));
}

/** The npm that runs this, else the one on PATH. */
async function npmFolder(env: NodeJS.ProcessEnv): Promise<string> {
  const npm = env['npm_execpath'] ?? (await onPath('npm', env));
  if (npm === undefined) throw new ServerAbsent('there is no npm on PATH');
  return path.resolve(path.dirname(await realpath(npm)), '..');
}

async function makeRootFileSystem(
  file: string,
  workshop: string,
  env: NodeJS.ProcessEnv,
  guardian: Guardian,
  signal: AbortSignal,
): Promise<void> {
  const debootstrap = path.join(await systemPackage('debootstrap', /^$/, env), 'usr');
  const folder = path.join(workshop, 'rootfs');
  const child = spawn(
    path.join(debootstrap, 'sbin/debootstrap'),
    ['--variant=minbase', SUITE, folder, await mirror(env)],
    {
      env: { ...env, DEBOOTSTRAP_DIR: path.join(debootstrap, 'share/debootstrap') },
      // A group of its own, for it works with many processes.
      detached: true,
      stdio: 'ignore',
    },
  );
  if (child.pid !== undefined) guardian.hold({ worker: child.pid });
  const [code] = (await once(child, 'exit', { signal })) as [number | null];
  guardian.hold({ worker: undefined });
  if (code !== 0) throw new ServerAbsent(`debootstrap made no Debian: exit code ${code}`);
  const left = ['var/cache/apt/archives', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/man', 'usr/share/locale'];
  for (const name of left) await rm(path.join(folder, name), { recursive: true, force: true });
  await run('tar', ['-C', folder, '-cf', `${folder}.tar`, '.'], { signal });
  await rename(`${folder}.tar`, file);
}

/** The Debian mirror that this system's apt uses. */
async function mirror(env: NodeJS.ProcessEnv): Promise<string> {
  const ask = () => run('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Label: Debian'], { env });
  const known = (await ask()) || (await run('apt-get', ['update'], { env }).then(ask));
  const [first = ''] = known.split('\n');
  if (first === '') throw new ServerAbsent('apt knows no Debian mirror');
  return first;
}
