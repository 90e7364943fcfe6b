import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServices } from './services.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'services-spec-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** An environment in which no program is found and nothing is cached. */
const bare = () => ({ PATH: folder, TIDEMARK_CACHE: folder });

/** The command line's process, once it has printed the endpoint of its DynamoDB. */
async function commandLine() {
  const main = path.join(import.meta.dirname, 'main.ts');
  const env = { ...process.env, DYNAMODB_ENDPOINT: undefined };
  const child = spawn(process.execPath, [main, 'dynamodb', '--folder', folder], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  expect(line).toMatch(/^DYNAMODB_ENDPOINT=http:\/\/127\.0\.0\.1:\d+$/);
  return { child, endpoint: line.slice('DYNAMODB_ENDPOINT='.length) };
}

/** Polls, for the one who cleans up is a process that we did not start. */
async function expectNothingLeft(endpoint: string): Promise<void> {
  for (let attempt = 0; attempt < 200 && (await readdir(folder)).length > 0; attempt += 1) await sleep(50);
  expect(await readdir(folder)).toEqual([]);
  await expect(fetch(endpoint)).rejects.toThrow();
}

test('an endpoint that the environment names is taken as it is', async () => {
  const services = await startServices({ nats: true, folder, env: { ...bare(), NATS_URL: 'nats://elsewhere:4222' } });
  expect(services.nats).toEqual({ kind: 'given', endpoint: 'nats://elsewhere:4222' });
  expect(services.postgres).toEqual({ kind: 'absent', reason: 'not asked for' });
  await services.stop();
});

test('a server that cannot be had is absent and says why; where CI is set it is a failure', async () => {
  const services = await startServices({ nats: true, folder, env: bare() });
  expect(services.nats).toEqual({ kind: 'absent', reason: expect.stringContaining('nats-server is not on PATH') });
  await services.stop();
  await expect(startServices({ nats: true, folder, env: { ...bare(), CI: '1' } })).rejects.toThrow(/is not on PATH/);
});

test('a failure of one server stops the others and leaves no file', async () => {
  const env = { ...process.env, DYNAMODB_ENDPOINT: '', TIDEMARK_CACHE: folder, PATH: folder, NATS_URL: '', CI: '1' };
  await expect(startServices({ dynamodb: true, nats: true, folder, env })).rejects.toThrow(/nats-server/);
  expect(await readdir(folder)).toEqual([]);
});

test('the command line stops its servers at the end of stdin', async () => {
  const { child, endpoint } = await commandLine();
  const ended = once(child, 'exit');
  child.stdin.end();
  expect(await ended).toEqual([0, null]);
  await expectNothingLeft(endpoint);
});

test('the command line stops its servers on SIGTERM', async () => {
  const { child, endpoint } = await commandLine();
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  await expectNothingLeft(endpoint);
});

test('nothing outlives a process that is killed with kill -9', async () => {
  const { child, endpoint } = await commandLine();
  child.kill('SIGKILL');
  await expectNothingLeft(endpoint);
});
