import { createServer } from 'node:net';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
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

test('npm start says where the services are and three commands to try, and all three answer', async () => {
  start();
  await launcher.says(/Try:\n(.*\n){2}.*\n/);
  for (const url of Object.values(site.urls)) expect(await getJson(`${url}/readyz`)).toMatchObject({ status: 'ok' });
  const { stdout } = { stdout: (await launcher.says(/[\s\S]*/))[0] };
  for (const url of Object.values(site.urls)) expect(stdout).toContain(url);
  expect(stdout.match(/^ {2}curl /gm)).toHaveLength(3);
});

test('OPS-3: SIGTERM drains and exits 0, leaving no process behind', async () => {
  start();
  await launcher.says(/Try:/);
  launcher.signal('SIGTERM');
  expect(await launcher.ended).toMatchObject({ code: 0, stderr: '' });
  expect(servicePids(site).size).toBe(0);
});

test('OPS-3: a second signal exits at once', async () => {
  start();
  await launcher.says(/Try:/);
  const slow = fetch(`${site.urls.fold}/v1/streams/x/watermark?min_seq=1&wait=55`).catch(() => null);
  launcher.signal('SIGTERM');
  await launcher.says(/stopping/);
  launcher.signal('SIGTERM');
  expect((await launcher.ended).code).toBe(1);
  await slow;
  expect(servicePids(site).size).toBe(0);
});

test.each(['relay', 'ingest', 'fold-worker'] as const)(
  'when %s dies the launcher stops the others and exits 1 naming it',
  async (name) => {
    start();
    await launcher.says(/Try:/);
    hardKill(servicePids(site).get(name) ?? NaN);
    const ended = await launcher.ended;
    expect(ended.code).toBe(1);
    expect(complaint(ended)).toEqual([`${name} died (signal SIGKILL)`]);
    expect(servicePids(site).size).toBe(0);
  },
);

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

test('OPS-2: a bad setting is one clear line naming it and exit 1', async () => {
  site = { ...site, env: { ...site.env, INGEST_DEDUPE_LEASE_SECS: '90' } };
  const ended = await start().ended;
  expect(ended.code).toBe(1);
  expect(complaint(ended)).toHaveLength(1);
  expect(complaint(ended)[0]).toMatch(/^ingest: INGEST_DEDUPE_LEASE_SECS: must be at most 59/);
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
