import type { Broker } from '@tidemark/libs-broker-contract';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { Intake, MachinesService, PullService, PushService } from '@tidemark/libs-relay';
import type { OpenService, ServiceParts } from '@tidemark/libs-service-kit';
import { AppModule } from './app.module.ts';
import { type RelaySettings, queueFolder, sqliteFile } from './config.ts';

/** The only place that knows which adapters the relay runs on. Each is loaded when its setting asks for it. */
export async function openRelay(settings: RelaySettings, parts: ServiceParts): Promise<OpenService> {
  const { clock, sleeper, stopping } = parts;
  const { connectSqlite } = await import('@tidemark/libs-op-store-sql');
  const store = await connectSqlite({ file: sqliteFile(settings), clock, sleeper });
  const broker = settings.RELAY_INTAKE ? await openBroker(settings, parts) : null;
  const intake = broker === null ? null : openIntake(broker, store.opStore, parts);
  const module = AppModule.create({
    opStore: store.opStore,
    push: new PushService(store.opStore),
    pull: new PullService(store.opStore),
    registry: store.prefixRegistry,
    machines: new MachinesService(store.presenceBoard, clock),
    intake,
    stopping,
  });
  return {
    module,
    checks: {
      op_store: () => store.opStore.ping(),
      ...(broker === null ? {} : { broker: () => broker.ping() }),
    },
    background: intake === null ? [] : [(signal) => intake.run(signal)],
    close: async () => {
      await broker?.close();
      await store.close();
    },
  };
}

async function openBroker(settings: RelaySettings, { clock, sleeper, random }: ServiceParts): Promise<Broker> {
  const { connectEmbeddedBroker } = await import('@tidemark/libs-broker-embedded');
  return connectEmbeddedBroker({ folder: queueFolder(settings), clock, sleeper, random });
}

function openIntake(broker: Broker, opStore: OpStore, { clock, sleeper, random, log, metrics }: ServiceParts): Intake {
  const appended = metrics.counter('tidemark_intake_appended_total', 'Events that became ops.');
  const repeated = metrics.counter(
    'tidemark_intake_repeated_total',
    'Events delivered again after they had become ops.',
  );
  const parked = metrics.counter(
    'tidemark_intake_parked_total',
    'Messages that are no events, parked as dead letters.',
  );
  return new Intake({
    broker,
    opStore,
    clock,
    sleeper,
    random,
    log,
    owner: Buffer.from(random.bytes(8)).toString('hex'),
    metrics: {
      appended: (count) => appended.inc(count),
      repeated: (count) => repeated.inc(count),
      parked: () => parked.inc(),
    },
  });
}
