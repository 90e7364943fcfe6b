import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Collector } from './collector.ts';
import type { ServiceName } from './launcher.ts';
import { type Exit, ServiceProcess, buildServices } from './service-process.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const NAMES = ['relay', 'ingest', 'fold-worker'] as const;
const PREFIX = { relay: 'RELAY', ingest: 'INGEST', 'fold-worker': 'FOLD' } as const;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

let folder: string;
let running: ServiceProcess[];
let collector: Collector;
beforeAll(() => buildServices(...NAMES), 120_000);
beforeEach(async () => {
  collector = await Collector.start();
  folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-services-'));
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((service) => service.destroy()));
  await collector.stop();
  rmSync(folder, { recursive: true });
});

function start(name: ServiceName, env: NodeJS.ProcessEnv, ...args: string[]): ServiceProcess {
  const service = new ServiceProcess(
    name,
    { TIDEMARK_DATA: folder, [`${PREFIX[name]}_ADDR`]: '127.0.0.1:0', ...env },
    args,
  );
  running.push(service);
  return service;
}

/** What Kubernetes puts into every container of a namespace with a service of that name. */
const serviceLinks = (name: string) => ({
  [`${name}_SERVICE_HOST`]: '10.0.0.1',
  [`${name}_SERVICE_PORT`]: '8787',
  [`${name}_SERVICE_PORT_HTTP`]: '8787',
  [`${name}_PORT`]: 'tcp://10.0.0.1:8787',
  [`${name}_PORT_8787_TCP`]: 'tcp://10.0.0.1:8787',
  [`${name}_PORT_8787_TCP_PROTO`]: 'tcp',
  [`${name}_PORT_8787_TCP_PORT`]: '8787',
  [`${name}_PORT_8787_TCP_ADDR`]: '10.0.0.1',
});

/** What `npm run token` says: a token and its entry. */
function makeToken(...args: string[]): { token: string; entry: object } {
  const said = execFileSync(process.execPath, [path.join(root, 'tools/launcher/token.mjs'), ...args], {
    encoding: 'utf8',
  });
  const [, token = '', entry = ''] = /^token, shown this once: (\S+)\n[^{]*([\s\S]*)$/.exec(said) ?? [];
  return { token, entry: JSON.parse(entry) as object };
}

test('OPS-1, OPS-2, SEC-1: the three services of a namespace carry a trace from HTTP to the fold, each for who may use it', async () => {
  const writer = makeToken('--name', 'writer', '--actions', 'write', '--tenants', '0');
  const reader = makeToken('--name', 'reader', '--actions', 'read', '--streams', '0.*');
  const tokens = [writer.entry, reader.entry];
  writeFileSync(path.join(folder, 'tokens.json'), JSON.stringify({ tokens }));
  const env = {
    ...serviceLinks('RELAY'),
    ...serviceLinks('INGEST'),
    ...serviceLinks('FOLD'),
    ...serviceLinks('TIDEMARK_RELAY'),
    TIDEMARK_AUTH: 'tokens',
    TIDEMARK_TOKENS_FILE: path.join(folder, 'tokens.json'),
    TIDEMARK_METRICS_ADDR: '127.0.0.1:0',
    TIDEMARK_LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
  const [relay, ingest, fold] = NAMES.map((name) => start(name, env)) as [
    ServiceProcess,
    ServiceProcess,
    ServiceProcess,
  ];
  const [relayAt, ingestAt, foldAt] = [await relay.listening(), await ingest.listening(), await fold.listening()];
  const as = ({ token }: { token: string }) => ({ authorization: `Bearer ${token}` });

  const event = { method: 'POST', body: '{"event_id":"e1"}' };
  const headers = { 'content-type': 'application/json', traceparent: TRACEPARENT };
  const post = (more: object) =>
    fetch(`${ingestAt.url}/v1/ingest?table=events`, { ...event, headers: { ...headers, ...more } });
  expect([(await post({})).status, (await post(as(reader))).status, (await post(as(writer))).status]).toEqual([
    401, 403, 200,
  ]);

  await ingest.logs(({ message, trace_id }) => message === 'request refused' && trace_id === TRACE);

  const mark = `${foldAt.url}/v1/streams/0.events/watermark?min_seq=1&wait=50`;
  const folded = await fetch(mark, { headers: as(reader) });
  expect(await folded.json()).toMatchObject({ folded_through: 1 });
  const pull = (token: { token: string }) => fetch(`${relayAt.url}/streams/0.events/ops`, { headers: as(token) });
  expect((await pull(writer)).status).toBe(403);
  const { ops } = (await (await pull(reader)).json()) as { ops: { traceparent: string }[] };
  expect(ops.map(({ traceparent }) => traceparent.split('-')[1])).toEqual([TRACE]);
  await fold.logs(({ span, trace_ids }) => span === 'fold' && (trace_ids as string[]).includes(TRACE));

  for (const { url, metrics } of [relayAt, ingestAt, foldAt]) {
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    expect(await (await fetch(`${metrics}/metrics`)).text()).toContain('tidemark_http_request_seconds');
  }
  const exits = await Promise.all([relay, ingest, fold].map((service) => service.stop()));
  expect(exits.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ''],
    [0, ''],
    [0, ''],
  ]);
  const spans = collector.spans.filter(({ traceId }) => traceId === TRACE);
  const named = (service: string, name: string) =>
    spans.filter((span) => span.service === service && span.name === name);
  const taken = named('ingest', 'POST /v1/ingest').find(({ spanId }) => ops[0]?.traceparent.includes(spanId));
  expect(taken?.parentSpanId).toBe('00f067aa0ba902b7');
  expect(named('ingest', 'publish')[0]?.parentSpanId).toBe(taken?.spanId);
  expect(named('relay', 'append')[0]?.parentSpanId).toBe(taken?.spanId);
  expect(named('fold-worker', 'fold')[0]?.parentSpanId).toBe(taken?.spanId);
}, 120_000);

test('OPS-2, SEC-1: every problem of the settings is told at once, and no secret with it', async () => {
  const key = path.join(folder, 'key');
  writeFileSync(key, 'hunter2\n');
  const env = {
    RELAY_ADDR: '0.0.0.0:0',
    RELAY_STOER: 'sqlite',
    TIDEMARK_METRICS_ADDR: 'here',
    TIDEMARK_JWT_KEY_FILE: key,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
  };
  const { code, stdout, stderr }: Exit = await start('relay', env).exited;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringMatching(/^relay: OTEL_EXPORTER_OTLP_ENDPOINT: must be an http or https URL/),
    expect.stringMatching(/^relay: RELAY_ADDR: 0\.0\.0\.0 is not a loopback address/),
    expect.stringMatching(/^relay: RELAY_STOER: unknown setting \(did you mean RELAY_STORE\?\)/),
    expect.stringMatching(/^relay: TIDEMARK_JWT_KEY: a shared secret needs at least 32 bytes$/),
    expect.stringMatching(/^relay: TIDEMARK_JWT_KEY: has no effect without TIDEMARK_AUTH=jwt$/),
    expect.stringMatching(/^relay: TIDEMARK_METRICS_ADDR: must be host:port/),
  ]);
  const help = await start('relay', {}, '--help').exited;
  expect([help.code, help.stdout.includes('TIDEMARK_JWT_KEY_FILE')]).toEqual([0, true]);
}, 60_000);

test.each(NAMES)(
  'OPS-2: every setting of the %s that --help names is in the documentation',
  async (name) => {
    const { stdout } = await start(name, {}, '--help').exited;
    const settings = [...stdout.matchAll(/^ {2}([A-Z][A-Z\d_]+) /gm)].map(([, setting]) => setting ?? '');
    expect(settings.length).toBeGreaterThan(10);
    const text = readFileSync(path.join(root, 'docs/operating/configuration.md'), 'utf8');
    expect(settings.filter((setting) => !text.includes(`\`${setting}\``))).toEqual([]);
  },
  60_000,
);
