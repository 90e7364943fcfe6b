import 'reflect-metadata';
import { MemoryBroker } from '@tidemark/libs-broker-contract/testing';
import { MemoryDedupeStore, MemoryDeduplicator } from '@tidemark/libs-dedupe-contract/testing';
import { IngestService, type Tables, defaultTables } from '@tidemark/libs-ingest';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { Metrics, ProbesModule, createHttp, createLog, json } from '@tidemark/libs-service-kit';
import { AppModule } from './app.module.ts';
import { admitEvents } from './events.controller.ts';
import { ingest } from './ingest.ts';

type HttpParts = Parameters<typeof createHttp>[2];

/** Ingest over HTTP on memory models, for specs. */
export async function startIngest(tables: Tables = defaultTables, more: Partial<HttpParts> = {}) {
  const time = new ManualTime();
  const broker = new MemoryBroker({ clock: time, sleeper: time });
  for (const tenant of tables.tenants()) await broker.openQueue(tenant, 1n << 30n);
  const deduplicator = new MemoryDeduplicator(new MemoryDedupeStore({ clock: time, random: new SeededRandom(1) }));
  const service = new IngestService({ deduplicator, broker, tables, clock: time, leaseMs: 30_000 });
  const metrics = new Metrics('ingest');
  const parts = { log: createLog('ingest', 'silent'), metrics, clock: time, stopping: new AbortController().signal };
  const probes = {
    live: () => json('{"status":"ok"}'),
    ready: async () => json('{"status":"ok","checks":{"dedupe":"ok","broker":"ok"}}'),
  };
  const exposition = async () => ({
    ...json(await metrics.registry.metrics()),
    contentType: metrics.registry.contentType,
  });
  const app = await createHttp(
    ProbesModule.around(AppModule.create({ service, clock: time }), probes, exposition),
    { ...ingest.http, admit: admitEvents(service) },
    { ...parts, ...more },
  );
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  return {
    app,
    service,
    broker,
    url,
    post: (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, query = '?table=events') =>
      fetch(`${url}/v1/ingest${query}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      }),
    stored: async (tenant = '0') => (await broker.stats(tenant)).messages,
    close: () => app.close(),
  };
}
