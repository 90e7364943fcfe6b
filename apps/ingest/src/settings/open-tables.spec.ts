import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MemoryBroker } from '@tidemark/libs-broker-contract/testing';
import { IngestService, type Tables } from '@tidemark/libs-ingest';
import { MemoryDedupeStore, MemoryDeduplicator } from '@tidemark/libs-dedupe-contract/testing';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { Metrics, type ServiceParts, createLog, parseSettings } from '@tidemark/libs-service-kit';
import { ingestSettings } from '../config.ts';
import { openTables } from './open-tables.ts';

let folder: string;
let time: ManualTime;
let broker: MemoryBroker;
let metrics: Metrics;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-settings-'));
  time = new ManualTime();
  broker = new MemoryBroker({ clock: time, sleeper: time });
  metrics = new Metrics('ingest');
});
afterEach(() => rmSync(folder, { recursive: true }));

function open(env: Record<string, string>) {
  const parts = { sleeper: time, clock: time, log: createLog('ingest', 'silent'), metrics } as unknown as ServiceParts;
  return openTables(parseSettings(ingestSettings, 'INGEST_', env), broker, parts);
}
function write(name: string, content: object): void {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), JSON.stringify(content));
}
const budget = async (tenant: string) => (await broker.stats(tenant)).bytesMax;

test('ING-9: without a folder there is tenant 0 with its queue, and nothing is watched', async () => {
  const { tables, background } = await open({ INGEST_QUEUE_BYTES: '1000' });
  expect([tables.tenants(), background.length, await budget('0')]).toEqual([['0'], 0, 1000n]);
});

test('ING-9: a budget that nobody set is one that a server with a usual store can reserve', async () => {
  const nats = { TIDEMARK_BROKER: 'nats', NATS_URL: 'nats://127.0.0.1:4222' };
  await open({});
  expect(await budget('0')).toBe(50n << 30n);
  await open(nats);
  expect(await budget('0')).toBe(1n << 30n);
  await open({ ...nats, INGEST_QUEUE_BYTES: '1000' });
  expect(await budget('0')).toBe(1000n);
});

test('ING-9: with a folder its tenants have queues of their budgets, and the folder is watched', async () => {
  write('acme/tenant.json', { budget: 5000 });
  write('b/tenant.json', {});
  const { tables, background } = await open({ INGEST_SETTINGS_DIR: folder, INGEST_QUEUE_BYTES: '1000' });
  expect([tables.tenants(), background.length]).toEqual([['acme', 'b'], 1]);
  expect([await budget('acme'), await budget('b')]).toEqual([5000n, 1000n]);
  const stop = new AbortController();
  stop.abort();
  await background[0]!(stop.signal);
});

/** Sends one event to table `t` of a tenant; what is answered. */
async function poster(tables: Tables) {
  const store = new MemoryDedupeStore({ clock: time, random: new SeededRandom(1) });
  const deduplicator = new MemoryDeduplicator(store);
  const service = new IngestService({ deduplicator, broker, tables, clock: time, leaseMs: 30_000 });
  return async (id: string, tenant = '0') => {
    const body = Buffer.from(JSON.stringify({ event_id: id }));
    const head = { tenant, table: 't', contentType: 'application/json' };
    return (await service.ingest({ ...head, body, receivedMs: time.now() })).body;
  };
}

test('ING-9: a tenant that fills its budget is full, and blocks nobody else', async () => {
  for (const [tenant, bytes] of [['a', 400] as const, ['b', 1_000_000] as const]) {
    write(`${tenant}/tenant.json`, { budget: bytes });
    write(`${tenant}/tables/t.json`, {});
  }
  const post = await poster((await open({ INGEST_SETTINGS_DIR: folder })).tables);
  const filling = [];
  for (let i = 0; i < 10; i++) filling.push(await post(`${i}`, 'a'));
  expect(filling[0]).toBe('{"ok":true}');
  expect(filling.at(-1)).toBe('{"error":"service unavailable"}');
  for (let i = 0; i < 10; i++) expect(await post(`${i}`, 'b')).toBe('{"ok":true}');
});

test('OPS-2: a folder that cannot be read is a problem of the setting', async () => {
  const missing = path.join(folder, 'none');
  await expect(open({ INGEST_SETTINGS_DIR: missing })).rejects.toMatchObject({
    problems: [`INGEST_SETTINGS_DIR: cannot read ${missing} (ENOENT)`],
  });
});

test('ING-9: an id is remembered for as long as the settings said when it was marked', async () => {
  write('0/tenant.json', {});
  write('0/tables/t.json', { retention: '10m' });
  const { tables } = await open({ INGEST_SETTINGS_DIR: folder });
  const post = await poster(tables);
  await post('old');
  write('0/tables/t.json', {});
  await (tables as unknown as { look(): Promise<void> }).look();
  await post('new');
  time.advance(11 * 60_000);
  expect([await post('old'), await post('new')]).toEqual(['{"ok":true}', '{"duplicate":true}']);
});
