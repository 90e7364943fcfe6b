import type { Broker } from '@tidemark/libs-broker-contract';
import type {
  ChangeIndex,
  IndexedOpStore,
  OpStore,
  PrefixRegistry,
  PresenceBoard,
} from '@tidemark/libs-op-store-contract';
import { DeadLetters, MachinesService, PushService, toldAppends } from '@tidemark/libs-relay';
import { type OpenService, type ServiceParts, dynamodbPlace, natsSettings } from '@tidemark/libs-service-kit';
import { AppModule } from './app.module.ts';
import { type RelaySettings, queueFolder, sqliteFile } from './config.ts';
import { dynamodbMetrics, openHub, openIntake, openTail, openWriter } from './flows.ts';

/** The only place that knows which adapters the relay runs on. Each is loaded when its setting asks for it. */
export async function openRelay(settings: RelaySettings, parts: ServiceParts): Promise<OpenService> {
  const { clock, stopping } = parts;
  const store = await openStore(settings, parts);
  const isEmbedded = settings.TIDEMARK_BROKER === 'embedded';
  // Without intake too: through it relays tell each other of their appends. Postgres does that itself.
  const tells = settings.RELAY_STORE === 'sqlite' || (settings.RELAY_STORE === 'dynamodb' && !isEmbedded);
  const broker = settings.RELAY_INTAKE || tells ? await openBroker(settings, parts) : null;
  // The embedded queue tells the relays of one host alone, and a table has relays on many: there every stream that is waited for is polled.
  const teller = settings.RELAY_STORE === 'dynamodb' && isEmbedded ? null : broker;
  const hub = openHub(store.opStore, store.changes, teller, settings, parts);
  const told = toldAppends(store.opStore, hub);
  const intake = settings.RELAY_INTAKE && broker !== null ? openIntake(broker, told, parts) : null;
  const module = AppModule.create({
    opStore: store.opStore,
    push: new PushService(store.opStore, openWriter(told, settings, parts)),
    pull: openTail(store.opStore, hub, settings, parts),
    registry: store.prefixRegistry,
    machines: new MachinesService(store.presenceBoard, clock),
    intake,
    deadLetters: intake === null || broker === null ? null : new DeadLetters(broker, told),
    stopping,
    log: parts.log,
  });
  return {
    module,
    checks: {
      op_store: () => store.opStore.ping(),
      ...(intake === null || broker === null ? {} : { broker: () => broker.ping() }),
    },
    cors: settings.RELAY_CORS_ORIGINS,
    background: [
      (signal) => Promise.race([store.failed ?? aborted(signal), aborted(signal)]),
      (signal) => hub.run(signal),
      ...(intake === null ? [] : [(signal: AbortSignal) => intake.run(signal)]),
    ],
    close: async () => {
      await broker?.close();
      await store.close();
    },
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

interface Stores {
  readonly opStore: OpStore;
  /** null: the store cannot say which streams changed. */
  readonly changes: ChangeIndex | null;
  readonly prefixRegistry: PrefixRegistry;
  readonly presenceBoard: PresenceBoard;
  /** Rejects when nothing can be written any more, for ever. */
  readonly failed?: Promise<never>;
  close(): Promise<void>;
}

async function openStore(settings: RelaySettings, parts: ServiceParts): Promise<Stores> {
  const { clock, sleeper, random, log } = parts;
  switch (settings.RELAY_STORE) {
    case 'sqlite': {
      const { connectSqlite } = await import('@tidemark/libs-op-store-sql');
      return indexed(await connectSqlite({ file: sqliteFile(settings), clock, sleeper }));
    }
    case 'postgres': {
      const { connectPostgres } = await import('@tidemark/libs-op-store-sql/postgres');
      const stores = await connectPostgres({
        url: settings.DATABASE_URL as string,
        clock,
        sleeper,
        random,
        caFile: settings.RELAY_PG_CA_FILE,
        poolMax: settings.RELAY_PG_POOL_MAX,
        acquireTimeoutMs: settings.RELAY_PG_ACQUIRE_TIMEOUT_SECS,
        warn: (message) => log.warn(message),
      });
      return indexed(stores);
    }
    case 'dynamodb': {
      const { connectDynamodb } = await import('@tidemark/libs-op-store-dynamodb');
      const stores = await connectDynamodb({
        ...{ clock, sleeper, random, log },
        ...dynamodbPlace(settings),
        opsTable: settings.RELAY_DYNAMODB_TABLE,
        registryTable: settings.RELAY_DYNAMODB_REGISTRY_TABLE,
        maxOpsPerRound: settings.RELAY_DYNAMODB_MAX_OPS_PER_ROUND,
        contentionRounds: settings.RELAY_CONTENTION_ROUNDS,
        legacyHoles: settings.RELAY_DYNAMODB_LEGACY_HOLES,
        longRuns: settings.RELAY_DYNAMODB_LONG_RUNS,
        metrics: dynamodbMetrics(parts),
      });
      return { ...stores, changes: null };
    }
  }
}

const indexed = <S extends { readonly opStore: IndexedOpStore }>(stores: S) => ({ ...stores, changes: stores.opStore });

async function openBroker(settings: RelaySettings, { clock, sleeper, random, log }: ServiceParts): Promise<Broker> {
  if (settings.TIDEMARK_BROKER === 'nats') {
    const { connectJetStreamBroker } = await import('@tidemark/libs-broker-jetstream');
    return connectJetStreamBroker({ ...natsSettings(settings), name: 'tidemark relay', clock, sleeper, random, log });
  }
  const { connectEmbeddedBroker } = await import('@tidemark/libs-broker-embedded');
  return connectEmbeddedBroker({ folder: queueFolder(settings), clock, sleeper, random });
}
