import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serverTests } from '@tidemark/tools-services/testing';
import { ServiceProcess, buildServices } from './service-process.ts';

const natsTest = serverTests('nats');
const EVENTS = 300;

let folder: string;
const running: ServiceProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tidemark-nats-'));
  await buildServices('relay', 'ingest');
}, 60_000);
afterAll(async () => {
  for (const service of running) await service.destroy();
  rmSync(folder, { recursive: true });
});

async function start(name: 'relay' | 'ingest', nats: string, env: NodeJS.ProcessEnv): Promise<string> {
  const broker = { TIDEMARK_BROKER: 'nats', NATS_URL: nats, TIDEMARK_DATA: folder };
  const addresses = { RELAY_ADDR: '127.0.0.1:0', INGEST_ADDR: '127.0.0.1:0' };
  const own = Object.fromEntries(Object.entries(addresses).filter(([key]) => key.startsWith(name.toUpperCase())));
  const service = new ServiceProcess(name, { ...own, ...broker, ...env });
  running.push(service);
  return (await service.listening()).url;
}

const lines = Array.from({ length: EVENTS }, (_, n) => `{"event_id":"e${n}","n":${n}}`).join('\n');

natsTest(
  'BRK-1, ING-2, RLY-14: over NATS every event becomes one op, and an append of one relay wakes the readers of another',
  async ({ endpoint }) => {
    const ingest = await start('ingest', endpoint, { INGEST_QUEUE_BYTES: '100000000' });
    const [first, second] = [await start('relay', endpoint, {}), await start('relay', endpoint, POLLING_RARELY)];
    const send = async () => {
      const headers = { 'content-type': 'application/x-ndjson' };
      const answer = await fetch(`${ingest}/v1/ingest?table=events`, { method: 'POST', headers, body: lines });
      return (await answer.json()) as { succeeded: number; duplicates: number };
    };
    expect(await send()).toMatchObject({ succeeded: EVENTS, duplicates: 0 });
    expect(await send()).toMatchObject({ succeeded: 0, duplicates: EVENTS });
    expect(await (await fetch(`${first}/v1/intake?wait=50`)).json()).toEqual({ pending: 0 });
    const page = (await (await fetch(`${second}/streams/0.events/ops?limit=1000`)).json()) as Page;
    expect(page.ops.map(({ target_id }) => target_id)).toEqual(Array.from({ length: EVENTS }, (_, n) => `e${n}`));

    const waiting = fetch(`${second}/streams/s/ops?since=0&wait=50`);
    await waitsFor(second);
    const body = JSON.stringify({ ops: [{ ...OP, op_id: 'told' }] });
    await fetch(`${first}/streams/s/ops`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(((await (await waiting).json()) as Page).ops.map(({ op_id }) => op_id)).toEqual(['told']);
    expect(await metricOf(second, 'tidemark_tail_wakeups_total{source="broker"}')).toBeGreaterThan(0);
  },
  180_000,
);

interface Page {
  readonly ops: readonly { readonly op_id: string; readonly target_id: string }[];
}

/** So that only a notification can be in time. */
const POLLING_RARELY = { RELAY_TAIL_POLL_MS: '60000', RELAY_TAIL_TOLD_POLL_MS: '600000', RELAY_INTAKE: 'off' };

const OP = {
  envelope_version: 1,
  lamport: 1,
  site: 1,
  target_kind: 'item',
  target_id: 't',
  field: 'f',
  op_type: 'set',
  value: null,
  author: '',
  wall_clock: '',
};

async function metricOf(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name.replace('}', '')}`));
  return Number(line?.split(' ').at(-1) ?? 0);
}

/** Until the long poll has its seat. */
async function waitsFor(url: string): Promise<void> {
  while ((await metricOf(url, 'tidemark_tail_readers')) === 0);
}
