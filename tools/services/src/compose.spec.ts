import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ServerAbsent } from './absent.ts';
import { composeViolations, type ComposeModel, type ComposeService } from './compose-rules.ts';
import { composeCommand } from './compose.ts';
import { debianFile } from './debian.ts';
import { onPath, run } from './programs.ts';
import { skipped } from './testing.ts';

const root = path.join(import.meta.dirname, '../../..');
const docker = (name: string) => path.join(root, 'docker', name);
const text = (name: string) => readFileSync(docker(name), 'utf8');

/** Runs a check with a program that may be missing; then says so, and fails where CI is set. */
async function unlessAbsent(title: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!(error instanceof ServerAbsent) || process.env['CI']) throw error;
    skipped(title, error.message);
  }
}

async function composed(file: string): Promise<ComposeModel> {
  const [program, ...words] = await composeCommand();
  return JSON.parse(await run(program, [...words, '-f', docker(file), 'config', '--format', 'json'])) as ComposeModel;
}

const sound: ComposeService = {
  build: {},
  user: 'node',
  read_only: true,
  cap_drop: ['ALL'],
  security_opt: ['no-new-privileges:true'],
  healthcheck: { test: ['CMD', 'node', 'healthcheck.mjs'] },
  ports: [{ host_ip: '127.0.0.1', published: '8787' }],
};

// kills: compose-rules.ts: service.read_only === true => true
test.each<[string, ComposeService]>([
  ['has no health check', { ...sound, healthcheck: {} }],
  ['may gain privileges', { ...sound, security_opt: [] }],
  ['publishes a port beyond loopback', { ...sound, ports: [{ published: '8787' }] }],
  ['runs as root', { ...sound, user: 'root' }],
  ['may write its root file system', { ...sound, read_only: false }],
  ['keeps capabilities', { ...sound, cap_drop: [] }],
])('SEC-3: the compose rules find an app that %s', (says, service) => {
  expect(composeViolations({ services: { relay: sound } })).toEqual([]);
  expect(composeViolations({ services: { relay: service } })).toEqual([`relay ${says}`]);
});

test('SEC-3: the apps of the compose file run as non-root, read-only and without capabilities', async () => {
  await unlessAbsent('compose.yaml', async () => {
    const model = await composed('compose.yaml');
    expect(composeViolations(model)).toEqual([]);
    expect(Object.keys(model.services).sort()).toEqual(
      ['dynamodb', 'fold-worker', 'ingest', 'nats', 'postgres', 'relay'].sort(),
    );
  });
}, 180_000);

test('the compose file of the backing parts has those of the full one, published on loopback', async () => {
  await unlessAbsent('compose.dev.yaml', async () => {
    const model = await composed('compose.dev.yaml');
    expect(composeViolations(model)).toEqual([]);
    expect(Object.keys(model.services).sort()).toEqual(['dynamodb', 'nats', 'postgres']);
  });
}, 180_000);

test('OPS-2: every setting that the compose file gives to an app is one that the app declares', async () => {
  await unlessAbsent('compose.yaml', async () => {
    const { services } = await composed('compose.yaml');
    const ours = /^(TIDEMARK|RELAY|INGEST|FOLD)_/;
    for (const app of ['relay', 'ingest', 'fold-worker']) {
      const declared = [
        'libs/service-kit/src/shared-settings.ts',
        'libs/service-kit/src/auth/settings.ts',
        'libs/service-kit/src/broker-settings.ts',
        'libs/service-kit/src/dynamodb-settings.ts',
        `apps/${app}/src/config.ts`,
      ]
        .map((file) => readFileSync(path.join(root, file), 'utf8'))
        .join();
      const given = Object.keys(services[app]?.environment ?? {}).filter((name) => ours.test(name));
      expect({ app, unknown: given.filter((name) => !declared.includes(`${name}:`)) }).toEqual({ app, unknown: [] });
    }
  });
}, 180_000);

test('SEC-3: the image ends as a non-root user and writes below its volume alone', () => {
  const stages = text('Dockerfile').split(/^FROM /m);
  const last = stages.at(-1) ?? '';
  expect(last.match(/^USER .*$/gm)).toEqual(['USER node']);
  expect(last).toMatch(/^VOLUME \/data$/m);
  expect(last).toMatch(/^HEALTHCHECK /m);
  expect(last).toMatch(/^STOPSIGNAL SIGTERM$/m);
});

test('the image starts a service with the flags that everything else starts it with', () => {
  const flags = JSON.parse(readFileSync(path.join(root, 'tools/launcher/node-flags.json'), 'utf8')) as string[];
  const [, command] =
    /^CMD (.*)$/m.exec(
      text('Dockerfile')
        .split(/^FROM /m)
        .at(-1) ?? '',
    ) ?? [];
  expect(JSON.parse(command as string)).toEqual(['node', ...flags, 'main.js']);
  expect(readFileSync(path.join(root, 'docs/operating/running.md'), 'utf8')).toContain(
    `node ${flags.join(' ')} main.js`,
  );
});

test('building needs no other registry than that of its base images', () => {
  // A `# syntax=` line pulls a build front end from a registry before the first step.
  expect(text('Dockerfile')).not.toMatch(/^#\s*syntax\s*=/m);
  const bases = [...text('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  expect(new Set(bases)).toEqual(new Set(['node:24-bookworm', 'node:24-bookworm-slim']));
  expect(existsSync(path.join(root, '.dockerignore'))).toBe(true);
});

test('BRK-4: the single NATS server of the compose file syncs every acked publish', async () => {
  expect(text('nats-server.conf')).toMatch(/^ {2}sync_interval: always$/m);
  await unlessAbsent('nats-server.conf', async () => {
    const server =
      (await onPath('nats-server', process.env)) ??
      (await debianFile('nats-server', 'usr/sbin/nats-server', process.env));
    await run(server, ['-t', '--config', docker('nats-server.conf')]);
  });
}, 180_000);
