import { randomBytes } from 'node:crypto';
import os from 'node:os';
import type { Broker } from '@tidemark/libs-broker-contract';
import type { Feed } from '@tidemark/libs-feed-contract';
import type { Bell } from '@tidemark/libs-feed-op-store';
import { FoldOperator, FoldWorker, type IndexedField } from '@tidemark/libs-fold';
import type { IndexedOpStore, OpStore } from '@tidemark/libs-op-store-contract';
import { type OpenService, type ServiceParts, dynamodbPlace, natsSettings } from '@tidemark/libs-service-kit';
import type { Views } from '@tidemark/libs-views-contract';
import { APPENDED_TOPIC } from '@tidemark/libs-wire';
import { AppModule } from './app.module.ts';
import { type FoldSettings, feedOf, opLogFile, queueFolder, viewsFile } from './config.ts';
import { foldMetrics, logMetrics, streamsMetrics, watchStatus } from './fold-metrics.ts';
import { openReducers } from './reducers.ts';
import { readWait } from './wait.ts';

/** The only place that knows which adapters the fold worker runs on. Each is loaded when its setting asks for it. */
export async function openFoldWorker(settings: FoldSettings, parts: ServiceParts): Promise<OpenService> {
  const { clock, sleeper, random, log, stopping, tracer } = parts;
  const { reducers, indexes } = await openReducers(settings.FOLD_REDUCERS);
  const opened: { close(): Promise<void> }[] = [];
  const keep = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.unshift(one);
    return one;
  };
  const close = async () => {
    for (const one of opened) await one.close();
  };
  try {
    const { opStore, changes } = await openLog(settings, parts);
    keep(opStore);
    const feed = keep(await openFeed(changes, settings, parts, keep));
    const views = keep(await openViews(settings, indexes, parts));
    const metrics = foldMetrics(parts);
    const options = {
      ...{ feed, opStore, views, reducers, clock, sleeper, random, log, metrics, tracer },
      legacyGraceMs: settings.FOLD_ADD_ERA_GRACE_SECS,
      sweepMs: settings.FOLD_SWEEP_SECS,
    };
    const worker = new FoldWorker(options);
    watchStatus(worker, parts);
    return {
      module: AppModule.create({
        views,
        wait: readWait({ worker, opStore, clock, stopping }),
        operator: new FoldOperator({ ...options, worker }),
        log,
      }),
      checks: { op_store: () => opStore.ping(), feed: () => feed.ping(), views: () => views.ping() },
      background: [(signal) => worker.run(signal)],
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

interface OpenLog {
  readonly opStore: OpStore;
  /** null: the store cannot say which streams changed. */
  readonly changes: IndexedOpStore | null;
}

async function openLog(settings: FoldSettings, parts: ServiceParts): Promise<OpenLog> {
  const { clock, sleeper, random, log } = parts;
  switch (settings.FOLD_OP_STORE) {
    case 'sqlite': {
      const { connectSqlite } = await import('@tidemark/libs-op-store-sql');
      return indexed((await connectSqlite({ file: opLogFile(settings), clock, sleeper })).opStore);
    }
    case 'postgres': {
      const { connectPostgres } = await import('@tidemark/libs-op-store-sql/postgres');
      const stores = await connectPostgres({ ...postgresPlace(settings, parts), clock, sleeper, random });
      return indexed(stores.opStore);
    }
    case 'dynamodb': {
      const { connectDynamodbLog } = await import('@tidemark/libs-op-store-dynamodb');
      const opStore = await connectDynamodbLog({
        ...{ clock, sleeper, random, log },
        ...dynamodbPlace(settings),
        opsTable: settings.FOLD_OPS_TABLE,
        setting: 'FOLD_OPS_TABLE',
        // The worker comes back to a hole by itself.
        patienceMs: 0,
        // A relay that takes seqs by ADD may fill any hole, so none of them proves anything: the grace decides.
        holes: settings.FOLD_ADD_ERA_GRACE_SECS > 0 ? 'hold' : 'judge',
        metrics: logMetrics(parts),
      });
      return { opStore, changes: null };
    }
  }
}

const indexed = (opStore: IndexedOpStore): OpenLog => ({ opStore, changes: opStore });

type Keep = <T extends { close(): Promise<void> }>(one: T) => T;

async function openFeed(
  changes: IndexedOpStore | null,
  settings: FoldSettings,
  parts: ServiceParts,
  keep: Keep,
): Promise<Feed> {
  const { clock, sleeper, random, log } = parts;
  if (feedOf(settings) === 'op-store' && changes !== null) {
    const { connectOpStoreFeed } = await import('@tidemark/libs-feed-op-store');
    const bells: Bell[] = [async (ring) => changes.watch(ring)];
    if (settings.FOLD_OP_STORE === 'sqlite') bells.push(bellOf(keep(await openBroker(settings, parts))));
    return connectOpStoreFeed({ opStore: changes, clock, sleeper, bells });
  }
  const { connectDynamodbStreams } = await import('@tidemark/libs-feed-dynamodb-streams');
  return connectDynamodbStreams({
    ...{ clock, sleeper, random, log },
    ...dynamodbPlace(settings),
    opsTable: settings.FOLD_OPS_TABLE,
    leasesTable: settings.FOLD_LEASES_TABLE,
    name: settings.FOLD_NAME,
    workerId: `${os.hostname()}-${randomBytes(4).toString('hex')}`,
    leaseMs: settings.FOLD_LEASE_SECS,
    censusMs: settings.FOLD_CENSUS_SECS,
    metrics: streamsMetrics(parts),
  });
}

/** Through the broker relays on SQLite tell of their appends. */
const bellOf =
  (broker: Broker): Bell =>
  (ring) =>
    broker.onNotify(APPENDED_TOPIC, ring);

async function openBroker(settings: FoldSettings, { clock, sleeper, random, log }: ServiceParts): Promise<Broker> {
  if (settings.TIDEMARK_BROKER === 'nats') {
    const { connectJetStreamBroker } = await import('@tidemark/libs-broker-jetstream');
    const name = 'tidemark fold-worker';
    return connectJetStreamBroker({ ...natsSettings(settings), name, clock, sleeper, random, log });
  }
  const { connectEmbeddedBroker } = await import('@tidemark/libs-broker-embedded');
  return connectEmbeddedBroker({ folder: queueFolder(settings), clock, sleeper, random });
}

async function openViews(
  settings: FoldSettings,
  indexes: readonly IndexedField[],
  parts: ServiceParts,
): Promise<Views> {
  const { sleeper, random } = parts;
  switch (settings.FOLD_VIEWS) {
    case 'sqlite': {
      const { connectSqliteViews } = await import('@tidemark/libs-views-sql');
      return connectSqliteViews({ file: viewsFile(settings) });
    }
    case 'postgres': {
      const { connectPostgresViews } = await import('@tidemark/libs-views-sql/postgres');
      return connectPostgresViews({ ...postgresPlace(settings, parts), indexes });
    }
    case 'dynamodb': {
      const { connectDynamodbViews } = await import('@tidemark/libs-views-dynamodb');
      const place = { ...dynamodbPlace(settings), table: settings.FOLD_VIEWS_TABLE };
      return connectDynamodbViews({ ...place, sleeper, random });
    }
  }
}

function postgresPlace(settings: FoldSettings, { log }: ServiceParts) {
  return {
    url: settings.DATABASE_URL as string,
    caFile: settings.FOLD_PG_CA_FILE,
    poolMax: settings.FOLD_PG_POOL_MAX,
    warn: (message: string) => log.warn(message),
  };
}
