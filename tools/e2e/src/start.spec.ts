import { createServer } from 'node:net';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { Launcher, type Site, hardKill, newSite, servicePids } from './launcher.ts';
import { getJson } from './whole-path.ts';

jest.setTimeout(60_000);

let site: Site;
let launcher: Launcher;

beforeEach(async () => {
  site = await newSite();
});

afterEach(async () => {
  await launcher.destroy(site);
  site.remove();
});

const start = (...args: string[]): Launcher => (launcher = new Launcher(site, args));
const complaint = ({ stderr }: { stderr: string }) => stderr.trim().split('\n');

test('OPS-3: npm start says where everything is and what to try, refuses a second start on its folder, and drains at SIGTERM', async () => {
  start();
  const [stdout] = await launcher.says(/[\s\S]*Try:\n(.*\n){2}.*\n/);
  for (const url of Object.values(site.urls)) expect(await getJson(`${url}/readyz`)).toMatchObject({ status: 'ok' });
  for (const url of Object.values(site.urls)) expect(stdout).toContain(url);
  expect(stdout.match(/^ {2}curl /gm)).toHaveLength(3);

  const log = path.join(site.folder, 'data', 'logs', 'ingest.log');
  const before = readFileSync(log, 'utf8');
  expect((await new Launcher(site).ended).code).toBe(1);
  expect(readFileSync(log, 'utf8').startsWith(before)).toBe(true);
  expect(before).toContain('listening');

  launcher.signal('SIGTERM');
  expect(await launcher.ended).toMatchObject({ code: 0, stderr: '' });
  expect(servicePids(site).size).toBe(0);
});

test('OPS-3: a second signal exits at once, also when a service does not drain', async () => {
  start();
  await launcher.says(/Try:/);
  process.kill(servicePids(site).get('fold-worker') ?? NaN, 'SIGSTOP');
  launcher.signal('SIGTERM');
  await launcher.says(/stopping/);
  // Later than the echo of one and the same wish to stop.
  await after(400);
  launcher.signal('SIGTERM');
  expect((await launcher.ended).code).toBe(1);
  await gone(site);
});

test('OPS-3: one SIGTERM that reaches the launcher and its services at the same time is one wish to stop, and drains', async () => {
  start();
  await launcher.says(/Try:/);
  launcher.signal('SIGTERM');
  for (const pid of servicePids(site).values()) process.kill(pid, 'SIGTERM');
  launcher.signal('SIGTERM');
  expect(await launcher.ended).toMatchObject({ code: 0, stderr: '' });
});

test('OPS-3: a service that does not end in order is named, and the exit code is 1', async () => {
  start();
  await launcher.says(/Try:/);
  const pid = servicePids(site).get('relay') ?? NaN;
  process.kill(pid, 'SIGSTOP');
  launcher.signal('SIGTERM');
  await launcher.says(/stopping/);
  hardKill(pid);
  const ended = await launcher.ended;
  expect([ended.code, complaint(ended)]).toEqual([1, ['relay did not drain (signal SIGKILL)']]);
});

// One for all: the launcher watches each of them in the same way, and tests of other things kill the others.
test('when a service dies the launcher stops the others and exits 1 naming it', async () => {
  start();
  await launcher.says(/Try:/);
  hardKill(servicePids(site).get('ingest') ?? NaN);
  const ended = await launcher.ended;
  expect(ended.code).toBe(1);
  expect(complaint(ended)).toEqual(['ingest died (signal SIGKILL)']);
  expect(servicePids(site).size).toBe(0);
});

test('the services end when the launcher is killed', async () => {
  start();
  await launcher.says(/Try:/);
  const pids = [...servicePids(site).values()];
  expect(pids).toHaveLength(3);
  hardKill(launcher.pid);
  await launcher.ended;
  await gone(site);
});

test('a taken port is one clear line and exit 1', async () => {
  const squatter = createServer();
  await new Promise<void>((resolve) => squatter.listen(Number(new URL(site.urls.ingest).port), '127.0.0.1', resolve));
  const ended = await start().ended;
  squatter.close();
  expect(ended.code).toBe(1);
  expect(complaint(ended)).toEqual([
    `ingest: INGEST_ADDR: ${new URL(site.urls.ingest).host} is taken by another process`,
  ]);
});

test('a data folder that cannot be written is one clear line and exit 1', async () => {
  const file = path.join(site.folder, 'data');
  writeFileSync(file, '');
  const ended = await start().ended;
  expect(ended.code).toBe(1);
  expect(complaint(ended)).toHaveLength(1);
  expect(complaint(ended)[0]).toMatch(/^TIDEMARK_DATA: cannot write to the folder .*data: /);
});

test('a data folder where nothing can be made is told, not tried for ever', async () => {
  site = { ...site, env: { ...site.env, TIDEMARK_DATA: '/proc/x' } };
  const ended = await start().ended;
  expect(ended.code).toBe(1);
  expect(complaint(ended)).toEqual([
    expect.stringMatching(/^TIDEMARK_DATA: cannot write to the folder \/proc\/x: ENOENT/),
  ]);
});

test('OPS-2: a bad setting is one clear line naming it and exit 1', async () => {
  site = { ...site, env: { ...site.env, INGEST_DEDUPE_LEASE_SECS: '90' } };
  const ended = await start().ended;
  expect(ended.code).toBe(1);
  expect(complaint(ended)).toHaveLength(1);
  expect(complaint(ended)[0]).toMatch(/^ingest: INGEST_DEDUPE_LEASE_SECS: must be at most 59/);
});

test('OPS-2: what a service alone may have and the three together cannot is told before anything starts', async () => {
  const more = { RELAY_ADDR: '127.0.0.1:0', TIDEMARK_METRICS_ADDR: '127.0.0.1:9464', TIDEMARK_AUTH: 'tokens' };
  site = { ...site, env: { ...site.env, ...more } };
  const ended = await start('--demo').ended;
  expect([ended.code, complaint(ended).map((line) => line.split(': ')[0])]).toEqual([
    1,
    ['RELAY_ADDR', 'TIDEMARK_METRICS_ADDR', 'TIDEMARK_AUTH'],
  ]);
});

test('an unreadable demo file is told before anything starts', async () => {
  const ended = await start('--demo', path.join(site.folder, 'absent.ndjson')).ended;
  expect(ended.code).toBe(1);
  expect(complaint(ended)[0]).toMatch(/^--demo: cannot read .*absent.ndjson: ENOENT/);
  mkdirSync(path.join(site.folder, 'd'));
  expect((await start('--demo', path.join(site.folder, 'd')).ended).stderr).toMatch(
    /^--demo: cannot read .*: not a file/,
  );
});

/** Resolves when no service of the site runs any more; the test's time limit is the bound. */
async function gone(site: Site): Promise<void> {
  while (servicePids(site).size > 0) await new Promise((resolve) => setImmediate(resolve));
}
