import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { PUSH_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import { RawClient } from './raw-client.ts';
import { ServiceProcess, buildServices } from './service-process.ts';

const PUSH = '/streams/s/ops';
const BODY = '{"ops":[]}';
const ANSWER = '{"appended":0}';
const JSON_TYPE = { 'content-type': 'application/json' };
const LIVEZ = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';

let folder: string;
let service: ServiceProcess;
beforeAll(() => buildServices('relay'), 120_000);
beforeEach(() => (folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-life-'))));
afterEach(async () => {
  await service.destroy();
  rmSync(folder, { recursive: true });
});

async function start(env: NodeJS.ProcessEnv = {}): Promise<{ url: string; pid: number; signal: () => void }> {
  service = new ServiceProcess('relay', { TIDEMARK_DATA: folder, RELAY_ADDR: '127.0.0.1:0', ...env });
  const { address, pid } = await service.logs(({ message }) => message === 'listening');
  return { url: String(address), pid: Number(pid), signal: () => process.kill(Number(pid), 'SIGTERM') };
}

async function keptConnection(url: string): Promise<RawClient> {
  const client = new RawClient(url);
  client.write(LIVEZ);
  await client.until(/"ok"\}$/);
  return client;
}

const pushHead = (bytes: number) =>
  `POST ${PUSH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n`;

/** A request that is in the middle of its body, and what sends the rest. */
async function slowPush(url: string): Promise<{ client: RawClient; finish: () => void }> {
  const client = new RawClient(url);
  client.write(`${pushHead(BODY.length)}Expect: 100-continue\r\n\r\n`);
  await client.until(/100 Continue/);
  client.write(BODY.slice(0, 3));
  return { client, finish: () => client.write(BODY.slice(3)) };
}

const draining = async (url: string) => {
  const answer = await fetch(`${url}/readyz`, { headers: { connection: 'close' } });
  if (answer.status === 503) expect(answer.headers.get('tidemark-outcome')).toBe('not-done');
  return answer.status === 503 && (await answer.text()) === '{"status":"draining"}';
};

test('H1, H2, H4, OPS-3: a service leaves, serves on for a while, answers what is open, and exits 0 among idle connections', async () => {
  const { url, signal } = await start({ TIDEMARK_PRESTOP_SECS: '8', TIDEMARK_BODY_RATE: '0' });
  const idle = await Promise.all(Array.from({ length: 50 }, () => keptConnection(url)));
  const slow = await Promise.all(Array.from({ length: 10 }, () => slowPush(url)));
  signal();
  while (!(await draining(url)));
  const late = await fetch(url + PUSH, { method: 'POST', body: BODY, headers: JSON_TYPE });
  expect([late.status, late.headers.get('connection'), await late.text()]).toEqual([200, 'close', ANSWER]);
  idle[0]?.write(LIVEZ);
  expect(await idle[0]?.all()).toMatch(/connection: close\r\n[^]*"ok"\}$/);
  for (const client of idle) expect(await client.all()).not.toContain('RESET');
  for (const { finish } of slow) finish();
  for (const { client } of slow) {
    const text = await client.all();
    expect(text).toMatch(/HTTP\/1\.1 200 OK\r\n[^]*connection: close\r\n/);
    expect(text.endsWith(ANSWER)).toBe(true);
  }
  expect(await service.exited).toMatchObject({ code: 0, stderr: '' });
}, 120_000);

test('OPS-3: what is still open at the deadline is cut off, and the exit is in order', async () => {
  const { url, signal } = await start({ TIDEMARK_DRAIN_SECS: '1', TIDEMARK_BODY_RATE: '0' });
  const { client } = await slowPush(url);
  signal();
  expect(await client.all()).not.toContain('HTTP/1.1 200');
  const { code, stdout } = await service.exited;
  expect(code).toBe(0);
  expect(stdout).toContain('"connections":1,"message":"cut off at the deadline"');
}, 60_000);

test('OPS-3: a second signal ends a service at once, also while it serves on', async () => {
  const { url, signal } = await start({ TIDEMARK_PRESTOP_SECS: '600', TIDEMARK_BODY_RATE: '0' });
  const { client } = await slowPush(url);
  signal();
  while (!(await draining(url)));
  // Later than the echo of one and the same wish to stop.
  await after(400);
  signal();
  expect((await service.exited).code).toBe(1);
  await client.all();
}, 60_000);

test('SEC-1: a stream of events ends when its token is taken out of the file, and one whose token is left goes on', async () => {
  const file = path.join(folder, 'tokens.json');
  const write = (...names: string[]) => {
    const grants = [{ actions: ['read'], streams: '*' }];
    const hashOf = (token: string) => `sha256:${createHash('sha256').update(token).digest('hex')}`;
    writeFileSync(file, JSON.stringify({ tokens: names.map((name) => ({ name, hash: hashOf(name), grants })) }));
  };
  write('revoked', 'kept');
  const auth = { TIDEMARK_AUTH: 'tokens', TIDEMARK_TOKENS_FILE: file, RELAY_TAIL_HEARTBEAT_MS: '100' };
  const { url } = await start({ ...auth, RELAY_INTAKE: 'off' });
  const ask = (token: string) =>
    fetch(url + PUSH, { headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` } });
  const [revoked, kept] = await Promise.all(['revoked', 'kept'].map(ask));
  write('kept');
  expect(await revoked?.text()).toMatch(/^retry: \d+\n\n/);
  expect((await ask('revoked')).status).toBe(401);
  const reader = kept!.body!.getReader();
  for (let beats = 0; beats < 20; beats++) expect((await reader.read()).done).toBe(false);
  await reader.cancel();
}, 60_000);

test('OPS-4: bodies of 480 MB that come together are read one by one or refused, in flat memory', async () => {
  const { url, pid } = await start({ TIDEMARK_BODIES_BYTES: String(2 * PUSH_BODY_BYTES_MAX), RELAY_INTAKE: 'off' });
  const body = Buffer.alloc(PUSH_BODY_BYTES_MAX, ' ');
  body.write(BODY);
  const beforeKb = peakKb(pid);
  const clients = Array.from({ length: 60 }, () => new RawClient(url));
  for (const client of clients) client.write(`${pushHead(body.length)}\r\n`);
  // Every body is on its way before the first is read to its end.
  for (const client of clients) client.write(body.subarray(0, -1));
  for (const client of clients) client.write(body.subarray(-1));
  const answers = await Promise.all(clients.map((client) => client.until(/\r\n\r\n.+$/)));
  const statuses = answers.map((answer) => /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
  expect(new Set(statuses)).toEqual(new Set(['200', '503']));
  expect(peakKb(pid) - beforeKb).toBeLessThan(240_000);
  for (const { socket } of clients) socket.destroy();
}, 60_000);

test('OPS-4: 32 clients that announce 8 MiB and send a byte now and then are sent away, and pushes go on', async () => {
  const { url } = await start({ RELAY_INTAKE: 'off' });
  const push = () => fetch(url + PUSH, { method: 'POST', body: BODY, headers: JSON_TYPE });
  const clients = Array.from({ length: 32 }, () => new RawClient(url));
  for (const client of clients) client.write(`${pushHead(PUSH_BODY_BYTES_MAX)}\r\n `);
  while ((await push()).status !== 503);
  const trickle = setInterval(() => clients.forEach((client) => client.write(' ')), 500);
  for (const client of clients) {
    const answer = await client.until(/\r\n\r\n.+$/);
    expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*\r\n\r\nthe body came too slowly/);
    expect(answer).toMatch(/^tidemark-outcome: not-done\r$/m);
  }
  const { status } = await push();
  clearInterval(trickle);
  expect(status).toBe(200);
  for (const { socket } of clients) socket.destroy();
}, 120_000);

function peakKb(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
