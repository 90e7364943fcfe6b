import { BODY_BYTES_MAX_DEFAULT, type Broker } from '@tidemark/libs-broker-contract';
import { type Clock, DUPLICATE_WINDOW_MS, Fault, type Random, type Sleeper } from '@tidemark/libs-kernel';
import { ChangeWatch } from './change-watch.ts';
import { Claim } from './claim.ts';
import { Consumers } from './consumers.ts';
import { DeadLetters } from './dead-letters.ts';
import { EmbeddedBroker } from './embedded-broker.ts';
import { JoinedWrites } from './joined-writes.ts';
import { KeyLog } from './key-log.ts';
import { Leases } from './leases.ts';
import { Notifications } from './notifications.ts';
import { Publish } from './publish.ts';
import { QueueClock } from './queue-clock.ts';
import { openQueueFile } from './queue-file.ts';
import { Queues } from './queues.ts';
import { Settle } from './settle.ts';

/** A key of the window takes some 30 bytes of memory in each process that publishes. */
const DUPLICATE_WINDOW_MS_MAX = 900_000;

export interface EmbeddedBrokerOptions {
  /** Holds `queue.sqlite` with its log, and sockets in `notify`; made when it is absent. Shared by processes of one host, not over a network file system. */
  readonly folder: string;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly bodyBytesMax?: number;
  /** The same in every process that shares the file. */
  readonly duplicateWindowMs?: number;
  /** The file grows no further; then publishes are `full`, as on a full disk. Its log comes on top. Default: as far as the disk goes. */
  readonly fileBytesMax?: number;
}

/** Opens this process's connection to the queues of the host. */
export async function connectEmbeddedBroker(options: EmbeddedBrokerOptions): Promise<Broker> {
  const { folder, clock, sleeper, random, fileBytesMax } = options;
  const { bodyBytesMax = BODY_BYTES_MAX_DEFAULT, duplicateWindowMs = DUPLICATE_WINDOW_MS } = options;
  checkWindow(duplicateWindowMs);
  const file = await openQueueFile({ folder, fileBytesMax, clock, sleeper, random });
  const { db } = file;
  const queues = new Queues(db);
  const keys = new KeyLog(db, duplicateWindowMs);
  const watch = new ChangeWatch(db, sleeper);
  const queueClock = new QueueClock(db, clock);
  const onWake = () => watch.changed();
  const writes = new JoinedWrites({ db, queueClock, participants: [queues, keys], onWake, clock, sleeper, random });
  const parts = {
    ...{ file, queues, watch, queueClock, writes, clock, random },
    publish: new Publish(db, queues, keys),
    claim: new Claim(db),
    settle: new Settle(db, queues),
    deadLetters: new DeadLetters(db),
    consumers: new Consumers(db),
    leases: new Leases(db, writes),
    notifications: new Notifications({ folder, sleeper, random }),
  };
  return new EmbeddedBroker(parts, { bodyBytesMax, duplicateWindowMs });
}

function checkWindow(duplicateWindowMs: number): void {
  if (duplicateWindowMs > 0 && duplicateWindowMs <= DUPLICATE_WINDOW_MS_MAX) return;
  const range = `above 0 and at most ${DUPLICATE_WINDOW_MS_MAX}`;
  throw new Fault('misconfigured', `duplicate window of ${duplicateWindowMs} ms, must be ${range}`);
}
