/** The relay's flows with their settings and metrics; which adapters they run on is wiring.ts's business. */
import type { Broker } from '@tidemark/libs-broker-contract';
import type { ChangeIndex, OpStore } from '@tidemark/libs-op-store-contract';
import { Intake, StreamWriter, TailHub, TailService } from '@tidemark/libs-relay';
import type { ServiceParts } from '@tidemark/libs-service-kit';
import type { RelaySettings } from './config.ts';

export function openHub(
  opStore: OpStore,
  changes: ChangeIndex | null,
  broker: Broker | null,
  settings: RelaySettings,
  parts: ServiceParts,
): TailHub {
  const { metrics } = parts;
  const waiting = metrics.gauge('tidemark_tail_readers', 'Readers that wait for ops.');
  const woken = metrics.counter('tidemark_tail_wakeups_total', 'Appends that woke readers, by what told of them.', [
    'source',
  ]);
  return new TailHub({
    ...parts,
    opStore,
    changes,
    broker,
    readersMax: settings.RELAY_TAIL_READERS,
    pollMs: settings.RELAY_TAIL_POLL_MS,
    heardPollMs: settings.RELAY_TAIL_TOLD_POLL_MS,
    metrics: {
      waiting: (readers) => waiting.set(readers),
      woken: (source) => woken.inc({ source }),
    },
  });
}

export function openTail(opStore: OpStore, hub: TailHub, settings: RelaySettings, parts: ServiceParts): TailService {
  const { metrics } = parts;
  const delivered = metrics.histogram(
    'tidemark_tail_delivery_seconds',
    'From when the relay heard of an append until a waiting reader was given it.',
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.2, 1, 5],
  );
  const dropped = metrics.counter(
    'tidemark_tail_dropped_total',
    'Readers of events cut off because they took nothing.',
  );
  return new TailService({
    ...parts,
    opStore,
    hub,
    strictCursor: settings.RELAY_STRICT_CURSOR,
    events: { heartbeatMs: settings.RELAY_TAIL_HEARTBEAT_MS, slowMs: settings.RELAY_TAIL_SLOW_SECS },
    metrics: {
      delivered: (ms) => delivered.observe(ms / 1000),
      dropped: () => dropped.inc(),
    },
  });
}

export function openWriter(
  opStore: Pick<OpStore, 'append'>,
  settings: RelaySettings,
  { clock, sleeper, metrics }: ServiceParts,
): StreamWriter {
  const rounds = metrics.histogram(
    'tidemark_push_round_pushes',
    'Pushes that one append of a stream carried.',
    [1, 2, 4, 8, 16, 32, 64, 128, 256],
    [],
  );
  let [waiting, bytes] = [0, 0];
  metrics.gaugeOf('tidemark_push_queue_pushes', 'Pushes that wait or are being written.', () => waiting);
  metrics.gaugeOf('tidemark_push_queue_bytes', 'Bytes of the pushes that wait or are being written.', () => bytes);
  const late = metrics.counter('tidemark_push_late_total', 'Pushes answered at their deadline while being written.');
  return new StreamWriter({
    opStore,
    clock,
    sleeper,
    deadlineMs: settings.RELAY_PUSH_DEADLINE_SECS,
    pushesMax: settings.RELAY_QUEUE_PUSHES,
    bytesMax: settings.RELAY_QUEUE_BYTES,
    transactionOps: settings.RELAY_STORE === 'dynamodb' ? settings.RELAY_DYNAMODB_MAX_OPS_PER_ROUND : undefined,
    metrics: {
      round: (pushes) => rounds.observe(pushes),
      queued: (pushes, held) => {
        waiting = pushes;
        bytes = held;
      },
      late: () => late.inc(),
    },
  });
}

export function openIntake(
  broker: Broker,
  opStore: Pick<OpStore, 'append' | 'refusal'>,
  { clock, sleeper, random, log, metrics, tracer }: ServiceParts,
): Intake {
  const appended = metrics.counter('tidemark_intake_appended_total', 'Events that became ops.');
  const repeated = metrics.counter(
    'tidemark_intake_repeated_total',
    'Events delivered again after they had become ops.',
  );
  const parked = metrics.counter(
    'tidemark_intake_parked_total',
    'Events that can never become ops, parked as dead letters.',
  );
  return new Intake({
    broker,
    opStore,
    clock,
    sleeper,
    random,
    log,
    tracer,
    owner: Buffer.from(random.bytes(8)).toString('hex'),
    metrics: {
      appended: (count) => appended.inc(count),
      repeated: (count) => repeated.inc(count),
      parked: () => parked.inc(),
    },
  });
}

/** What became of transactions, and of missing ops, in words of the DynamoDB store. */
export function dynamodbMetrics({ metrics }: ServiceParts) {
  const rounds = metrics.counter('tidemark_dynamodb_rounds_total', 'Transactions that append ops, by how they ended.', [
    'end',
  ]);
  const ops = metrics.histogram(
    'tidemark_dynamodb_round_ops',
    'Ops that one stored transaction carried.',
    [1, 2, 4, 8, 16, 32, 49],
  );
  const holes = metrics.counter(
    'tidemark_dynamodb_hole_seqs_total',
    'Seqs without an op that reads came upon, by what became of them.',
    ['end'],
  );
  const collisions = metrics.counter(
    'tidemark_dynamodb_claim_collisions_total',
    'Ops stored without a claim, because its key belongs to another op, or names the place of another.',
  );
  return {
    round: (end: string, count: number) => {
      rounds.inc({ end });
      if (end === 'stored') ops.observe(count);
    },
    hole: (end: string, seqs: number) => holes.inc({ end }, seqs),
    collision: () => collisions.inc(),
  };
}
