import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serverTests, startedHere } from '@tidemark/tools-services/testing';
import { ServiceProcess, buildServices } from './service-process.ts';

const natsTest = serverTests('nats');
const EVENTS = 400;

let folder: string;
const running: ServiceProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tidemark-outage-'));
  await buildServices('relay', 'ingest');
}, 60_000);
afterAll(async () => {
  for (const service of running) await service.destroy();
  rmSync(folder, { recursive: true });
});

async function start(name: 'relay' | 'ingest', nats: string): Promise<{ url: string; service: ServiceProcess }> {
  const shared = { TIDEMARK_BROKER: 'nats', NATS_URL: nats, TIDEMARK_DATA: folder, TIDEMARK_NATS_PREFIX: 'outage' };
  const service = new ServiceProcess(name, { ...shared, [`${name.toUpperCase()}_ADDR`]: '127.0.0.1:0' });
  running.push(service);
  return { url: (await service.listening()).url, service };
}

const line = (n: number) => `{"event_id":"e${n}","n":${n}}`;
const HEADERS = { 'content-type': 'application/x-ndjson' };

/** As an obedient producer: the same body again until every event of it is known to be stored. */
async function sendUntilStored(ingest: string, from: number, to: number): Promise<void> {
  const body = Array.from({ length: to - from }, (_, at) => line(from + at)).join('\n');
  for (;;) {
    const answer = await fetch(`${ingest}/v1/ingest?table=events`, { method: 'POST', headers: HEADERS, body });
    if (answer.status === 200) return expect(await answer.json()).toMatchObject({ total: to - from, failed: 0 });
    expect([500, 503]).toContain(answer.status);
  }
}

const checksOf = async (url: string) =>
  ((await (await fetch(`${url}/readyz`)).json()) as { checks: Record<string, string> }).checks;

async function push(relay: string, opId: string): Promise<number> {
  const op = { envelope_version: 1, op_id: opId, lamport: 1, site: 1, target_kind: 'k', target_id: 't', field: 'f' };
  const body = JSON.stringify({ ops: [{ ...op, op_type: 'set', value: null, author: '', wall_clock: '' }] });
  const headers = { 'content-type': 'application/json' };
  return (await fetch(`${relay}/streams/own/ops`, { method: 'POST', headers, body })).status;
}

async function targetsOf(relay: string, stream: string): Promise<string[]> {
  const page = await (await fetch(`${relay}/streams/${stream}/ops?limit=1000`)).json();
  return (page as { ops: { target_id: string }[] }).ops.map(({ target_id }) => target_id);
}

natsTest(
  'BRK-5, ING-2: while the broker is killed and comes back the relay serves its log, and every event becomes one op, in order',
  async (nats) => {
    if (!startedHere('an outage of the broker', nats)) return;
    const { url: ingest } = await start('ingest', nats.endpoint);
    const { url: relay, service } = await start('relay', nats.endpoint);
    expect(await checksOf(ingest)).toEqual({ dedupe: 'ok', broker: 'ok', queues: 'ok' });
    await sendUntilStored(ingest, 0, EVENTS / 2);

    const sending = sendUntilStored(ingest, EVENTS / 2, EVENTS);
    await nats.server.crash();
    await service.logs(({ message }) => message === 'the connection to the broker broke');
    expect(await push(relay, 'during')).toBe(200);
    expect(await targetsOf(relay, 'own')).toEqual(['t']);
    expect((await checksOf(relay)).broker).not.toBe('ok');
    expect((await checksOf(ingest)).broker).not.toBe('ok');

    await nats.server.restart();
    await sending;
    await service.logs(({ message }) => message === 'connected to the broker again');
    expect(await (await fetch(`${relay}/v1/intake?wait=50`)).json()).toEqual({ pending: 0 });
    const ids = await targetsOf(relay, '0.events');
    expect(ids).toEqual(Array.from({ length: EVENTS }, (_, n) => `e${n}`));
    expect(await push(relay, 'after')).toBe(200);
    expect(await checksOf(relay)).toMatchObject({ broker: 'ok' });
  },
  180_000,
);
