import type { Broker } from '@tidemark/libs-broker-contract';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { Intake, MachinesService, PullService, PushService, StreamWriter } from '@tidemark/libs-relay';
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
    push: new PushService(store.opStore, openWriter(store.opStore, settings, parts)),
    pull: new PullService(store.opStore),
    registry: store.prefixRegistry,
    machines: new MachinesService(store.presenceBoard, clock),
    intake,
    stopping,
    log: parts.log,
  });
  return {
    module,
    checks: {
      op_store: () => store.opStore.ping(),
      ...(broker === null ? {} : { broker: () => broker.ping() }),
    },
    cors: settings.RELAY_CORS_ORIGINS,
    background: intake === null ? [] : [(signal) => intake.run(signal)],
    close: async () => {
      await broker?.close();
      await store.close();
    },
  };
}

function openWriter(
  opStore: OpStore,
  settings: RelaySettings,
  { clock, sleeper, metrics }: ServiceParts,
): StreamWriter {
  const rounds = metrics.histogram(
    'tidemark_push_round_pushes',
    'Pushes that one append of a stream carried.',
    [1, 2, 4, 8, 16, 32, 64, 128, 256],
    [],
  );
  const waiting = metrics.gauge('tidemark_push_queue_pushes', 'Pushes that wait or are being written.');
  const bytes = metrics.gauge('tidemark_push_queue_bytes', 'Bytes of the pushes that wait or are being written.');
  const late = metrics.counter('tidemark_push_late_total', 'Pushes answered at their deadline while being written.');
  return new StreamWriter({
    opStore,
    clock,
    sleeper,
    deadlineMs: settings.RELAY_PUSH_DEADLINE_SECS,
    pushesMax: settings.RELAY_QUEUE_PUSHES,
    bytesMax: settings.RELAY_QUEUE_BYTES,
    metrics: {
      round: (pushes) => rounds.observe(pushes),
      queued: (pushes, held) => {
        waiting.set(pushes);
        bytes.set(held);
      },
      late: () => late.inc(),
    },
  });
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
