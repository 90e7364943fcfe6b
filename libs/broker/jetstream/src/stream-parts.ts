import type { Clock, Random } from '@tidemark/libs-kernel';
import type { JetStreamClient, JetStreamManager } from 'nats';
import type { Link } from './link.ts';
import type { Names } from './names.ts';
import type { Queues } from './queues.ts';

/** What whoever keeps something in a stream beside the queues works with. */
export interface StreamParts {
  readonly link: Link;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly names: Names;
  readonly queues: Queues;
  readonly clock: Clock;
  readonly random: Random;
  readonly timeoutMs: number;
  readonly patienceMs: number;
}
