import type { Database } from 'better-sqlite3';
import type { PublishOutcome, Topic } from '@tidemark/libs-broker-contract';
import type { KeyLog } from './key-log.ts';
import type { Queues } from './queues.ts';

export interface Message {
  readonly topic: Topic;
  readonly body: Uint8Array;
  readonly key: string | null;
  /** What it counts in the budget. */
  readonly bytes: bigint;
}

/** Stores one message inside a transaction. The refusals are outcomes, so that one message does not fail those beside it. */
export class Publish {
  readonly #queues: Queues;
  readonly #keys: KeyLog;
  readonly #insert;

  constructor(db: Database, queues: Queues, keys: KeyLog) {
    this.#queues = queues;
    this.#keys = keys;
    this.#insert = db.prepare(
      'INSERT INTO messages (queue_id, seq, bytes, stored_at_ms, table_name, key, body) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
  }

  run({ topic, body, key, bytes }: Message, nowMs: number): PublishOutcome {
    const queue = this.#queues.get(topic.tenant);
    if (!queue) return { kind: 'full', detail: 'the tenant has no queue' };
    const first = key === null ? undefined : this.#keys.firstCopy(queue.id, key);
    if (first !== undefined) return { kind: 'duplicate', seq: first };
    if (!queue.fits(bytes))
      return { kind: 'full', detail: `the queue holds ${queue.bytes} of ${queue.bytesMax} bytes` };
    const seq = queue.addMessage(bytes);
    this.#insert.run(queue.id, seq, bytes, BigInt(nowMs), topic.table, key, body);
    if (key !== null) this.#keys.remember(queue.id, key, seq);
    return { kind: 'stored', seq };
  }
}
