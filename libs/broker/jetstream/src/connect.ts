import { BODY_BYTES_MAX_DEFAULT, type Broker } from '@tidemark/libs-broker-contract';
import { type Clock, DUPLICATE_WINDOW_MS, Fault, type Random, type Sleeper } from '@tidemark/libs-kernel';
import { type ConnectionSettings, connectionOptions } from './connection-options.ts';
import { DeadLetters } from './dead-letters.ts';
import { Handover } from './handover.ts';
import { JetStreamBroker } from './jetstream-broker.ts';
import { Leases } from './leases.ts';
import { type BrokerLog, Link } from './link.ts';
import { throwFault } from './map-error.ts';
import { Names } from './names.ts';
import { Notifications } from './notifications.ts';
import { HEADER_BYTES_MAX, Publish } from './publish.ts';
import { Queues } from './queues.ts';
import { Rooms } from './rooms.ts';
import { leaseStream } from './stream-config.ts';
import { verifyTopology } from './topology.ts';
import { Trimmer } from './trimmer.ts';

export interface JetStreamBrokerOptions extends ConnectionSettings {
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log: BrokerLog;
  /** Begins every name on the server: installations with different ones do not see each other. Default `tidemark`. */
  readonly prefix?: string;
  /** False: streams and durable consumers are an operator's, and only verified. Default true. */
  readonly manageStreams?: boolean;
  /** With an operator's streams: what must be there at the start. Everything that is wrong with any of it is told at once. */
  readonly expected?: { readonly tenants: readonly string[]; readonly consumers?: readonly string[] };
  /** Copies of each stream, on so many servers. Default 1. */
  readonly replicas?: number;
  readonly bodyBytesMax?: number;
  readonly duplicateWindowMs?: number;
  /** For one attempt of a publish, an ack or a question. Default 5 s. */
  readonly timeoutMs?: number;
  /** For all attempts of one publish or ack; never more than half of the duplicate window. Default 15.5 s. */
  readonly patienceMs?: number;
}

const PREFIX_DEFAULT = 'tidemark';
const TIMEOUT_MS = 5000;
const PATIENCE_MS = 15_500;
/** Before it a smaller budget dropped messages. */
const VERSION_MIN = [2, 10, 6];

/** Opens this process's connection to the server or cluster. */
export async function connectJetStreamBroker(options: JetStreamBrokerOptions): Promise<Broker> {
  const { clock, sleeper, random, log, replicas = 1, manageStreams: managed = true } = options;
  const { duplicateWindowMs = DUPLICATE_WINDOW_MS, timeoutMs = TIMEOUT_MS } = options;
  const names = new Names(options.prefix ?? PREFIX_DEFAULT);
  const link = await Link.open(connectionOptions(options, names.prefix, random), { clock, sleeper, log });
  try {
    checkVersion(link.connection.info?.version ?? '');
    const bodyBytesMax = bodyLimit(options, link);
    const patienceMs = Math.min(options.patienceMs ?? PATIENCE_MS, duplicateWindowMs / 2);
    const client = link.connection.jetstream({ timeout: timeoutMs });
    const manager = await link.connection.jetstreamManager({ timeout: timeoutMs, checkAPI: false });
    const settings = { replicas, duplicateWindowMs };
    const shared = { link, client, manager, names, managed, clock, sleeper, random, log, timeoutMs, patienceMs };
    const queues = new Queues({ ...shared, settings, callPatienceMs: 2 * timeoutMs });
    if (managed) await queues.ensure(leaseStream(names, settings));
    else await verifyTopology({ ...shared, queues, settings }, options.expected ?? { tenants: [] });
    const trimmer = new Trimmer({ ...shared, queues, duplicateWindowMs });
    const rooms = new Rooms({ queues, trimmer, clock });
    const parts = {
      ...{ ...shared, queues, trimmer, rooms },
      publish: new Publish({
        ...shared,
        queues,
        rooms,
        trimmer,
        bodyBytesMax,
        handover: new Handover({ ...shared, queues }),
      }),
      deadLetters: new DeadLetters({ ...shared, queues }),
      leases: await Leases.open({ ...shared, queues }),
      notifications: new Notifications(link, names, sleeper),
    };
    return new JetStreamBroker(parts, { duplicateWindowMs, bodyBytesMax });
  } catch (thrown) {
    await link.close();
    return throwFault(thrown);
  }
}

function checkVersion(version: string): void {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  const [needsMajor = 0, needsMinor = 0, needsPatch = 0] = VERSION_MIN;
  const newer =
    major !== needsMajor ? major > needsMajor : minor !== needsMinor ? minor > needsMinor : patch >= needsPatch;
  if (!newer) throw new Fault('misconfigured', `broker of version ${version}, needs ${VERSION_MIN.join('.')}`);
}

/** Headers count against the server's limit too. */
function bodyLimit({ bodyBytesMax = BODY_BYTES_MAX_DEFAULT }: JetStreamBrokerOptions, link: Link): number {
  return Math.min(bodyBytesMax, (link.connection.info?.max_payload ?? BODY_BYTES_MAX_DEFAULT) - HEADER_BYTES_MAX);
}
