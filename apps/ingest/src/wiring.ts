import type { Broker } from '@tidemark/libs-broker-contract';
import type { Deduplicator } from '@tidemark/libs-dedupe-contract';
import { IngestService, type Tables, defaultTables } from '@tidemark/libs-ingest';
import { type OpenService, type ServiceParts, dynamodbPlace, natsSettings } from '@tidemark/libs-service-kit';
import { AppModule } from './app.module.ts';
import { type IngestSettings, dedupeFolder, queueFolder } from './config.ts';
import { admitEvents } from './events.controller.ts';
import { dedupeTableMetrics, ingestMetrics } from './ingest-metrics.ts';
import { refuseLongLease } from './lease-rule.ts';
import { QueueWatch } from './queue-watch.ts';
import { openTables } from './settings/open-tables.ts';

/** The only place that knows which adapters ingest runs on. */
export async function openIngest(settings: IngestSettings, parts: ServiceParts): Promise<OpenService> {
  const leaseMs = settings.INGEST_DEDUPE_LEASE_SECS;
  const broker = await openBroker(settings, parts);
  refuseLongLease(leaseMs, broker.duplicateWindowMs, settings.INGEST_DEDUPE);
  const deduplicator = await openDeduplicator(settings, parts);
  const tables = await openTables(settings, broker, parts);
  const watch = new QueueWatch({ broker, tenants: () => tables.tables.tenants(), ...parts });
  const service = openService(deduplicator, broker, tables.tables, leaseMs, parts);
  return {
    module: AppModule.create({ service, clock: parts.clock }),
    admit: admitEvents(service),
    checks: { dedupe: () => deduplicator.ping(), broker: () => broker.ping(), queues: watch.check },
    background: [...tables.background, (signal) => watch.run(parts.sleeper, signal)],
    close: async () => {
      await deduplicator.close();
      await broker.close();
    },
  };
}

async function openBroker(settings: IngestSettings, { clock, sleeper, random, log }: ServiceParts): Promise<Broker> {
  if (settings.TIDEMARK_BROKER === 'nats') {
    const { connectJetStreamBroker } = await import('@tidemark/libs-broker-jetstream');
    // The queues of a settings folder are verified as they are opened.
    const expected = { tenants: settings.INGEST_SETTINGS_DIR === undefined ? defaultTables.tenants() : [] };
    const world = { clock, sleeper, random, log };
    return connectJetStreamBroker({ ...natsSettings(settings), ...world, name: 'tidemark ingest', expected });
  }
  const { connectEmbeddedBroker } = await import('@tidemark/libs-broker-embedded');
  return connectEmbeddedBroker({ folder: queueFolder(settings), clock, sleeper, random });
}

async function openDeduplicator(settings: IngestSettings, parts: ServiceParts): Promise<Deduplicator> {
  const { clock, sleeper, random, log, metrics } = parts;
  if (settings.INGEST_DEDUPE === 'dynamodb') {
    const { connectDynamodbDeduplicator } = await import('@tidemark/libs-dedupe-dynamodb');
    const world = { clock, sleeper, random, log, metrics: dedupeTableMetrics(metrics) };
    return connectDynamodbDeduplicator({
      ...dynamodbPlace(settings),
      ...world,
      table: settings.INGEST_DEDUPE_TABLE,
      timeoutMs: settings.INGEST_DEDUPE_TIMEOUT_MS,
      reserveConcurrency: settings.INGEST_DEDUPE_CONCURRENCY,
    });
  }
  if (settings.TIDEMARK_BROKER === 'nats')
    log.warn('ids are remembered by this process alone: several ingest services need INGEST_DEDUPE=dynamodb');
  const { connectEmbeddedDeduplicator } = await import('@tidemark/libs-dedupe-embedded');
  const swept = metrics.counter('tidemark_dedupe_swept_ids_total', 'Ids that the sweep removed.', ['reason']);
  return connectEmbeddedDeduplicator({
    folder: dedupeFolder(settings),
    clock,
    sleeper,
    random,
    onSweep: (report) => {
      if (report.kind === 'failed')
        return log.warn({ err: report.fault }, 'the sweep of old ids failed; it is tried again');
      swept.inc({ reason: 'expired' }, report.expired);
      swept.inc({ reason: 'unreadable' }, report.unreadable);
    },
  });
}

function openService(
  deduplicator: Deduplicator,
  broker: Broker,
  tables: Tables,
  leaseMs: number,
  { clock, sleeper, log, metrics, tracer }: ServiceParts,
): IngestService {
  return new IngestService({
    deduplicator,
    broker,
    tables,
    clock,
    leaseMs,
    log,
    metrics: ingestMetrics(metrics),
    tracer,
    pause: () => sleeper.sleep(0),
  });
}
