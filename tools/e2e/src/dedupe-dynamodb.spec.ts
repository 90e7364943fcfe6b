import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startServices } from '@tidemark/tools-services';
import { skipped } from '@tidemark/tools-services/testing';
import { ServiceProcess, buildServices } from './service-process.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const EVENTS = 100;

let servers: Awaited<ReturnType<typeof startServices>>;
let folder: string;
const running: ServiceProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tidemark-dedupe-'));
  servers = await startServices({ nats: true, dynamodb: true });
  await buildServices('ingest');
}, 180_000);
afterAll(async () => {
  for (const service of running) await service.destroy();
  await servers.stop();
  rmSync(folder, { recursive: true });
});

async function start(env: NodeJS.ProcessEnv): Promise<string> {
  const settings = { INGEST_ADDR: '127.0.0.1:0', INGEST_DEDUPE: 'dynamodb', TIDEMARK_DATA: folder };
  const service = new ServiceProcess('ingest', { ...settings, ...env });
  running.push(service);
  return (await service.listening()).url;
}

async function send(url: string, ids: readonly number[]): Promise<{ succeeded: number; duplicates: number }> {
  const headers = { 'content-type': 'application/x-ndjson' };
  const body = ids.map((n) => `{"event_id":"e${n}"}`).join('\n');
  for (;;) {
    const answer = await fetch(`${url}/v1/ingest?table=events`, { method: 'POST', headers, body });
    if (answer.status === 200) return (await answer.json()) as { succeeded: number; duplicates: number };
    // A table that is slow for a moment.
    expect([answer.status, await answer.json()]).toEqual([503, { error: 'dedupe store unavailable' }]);
  }
}

test('I37, DDP-2, ING-2: two ingest services that share a table take an event once, also when one starts anew', async () => {
  const { nats, dynamodb } = servers;
  for (const server of [nats, dynamodb])
    if (server.kind === 'absent') return skipped('two ingest services that share a table', server.reason);
  const env = {
    TIDEMARK_BROKER: 'nats',
    NATS_URL: (nats as { endpoint: string }).endpoint,
    DYNAMODB_ENDPOINT: (dynamodb as { endpoint: string }).endpoint,
    INGEST_DEDUPE_TABLE: 'e2e_dedupe',
    INGEST_DEDUPE_TIMEOUT_MS: '20000',
    INGEST_QUEUE_BYTES: '100000000',
  };
  const tables = path.join(root, 'tools/launcher/tables.mjs');
  const made = spawnSync(process.execPath, [tables], { env: { ...process.env, ...env }, encoding: 'utf8' });
  expect([made.status, made.stdout]).toEqual([0, expect.stringContaining('e2e_dedupe\n')]);
  const [one, other] = [await start(env), await start(env)];
  const ids = Array.from({ length: EVENTS }, (_, n) => n);
  expect(await send(one, ids.slice(0, EVENTS / 2))).toMatchObject({ succeeded: EVENTS / 2 });
  expect(await send(other, ids)).toMatchObject({ succeeded: EVENTS / 2, duplicates: EVENTS / 2 });
  expect(await send(one, ids)).toMatchObject({ succeeded: 0, duplicates: EVENTS });
  const third = await start(env);
  expect(await send(third, ids)).toMatchObject({ succeeded: 0, duplicates: EVENTS });
}, 180_000);
