import type { Database } from 'better-sqlite3';
import type { QueueRow } from './queues.ts';

/** A durable name of a queue. */
export interface DurableConsumer {
  readonly id: bigint;
  readonly tenant: string;
  readonly queueId: bigint;
  readonly queueName: string;
}

/** The durable names of each queue. */
export class Consumers {
  readonly #find;
  readonly #deliveredThrough;
  readonly #create;
  readonly #inherit;

  constructor(db: Database) {
    this.#find = db
      .prepare<[bigint, string], bigint>('SELECT id FROM consumers WHERE queue_id = ? AND name = ?')
      .pluck()
      .safeIntegers();
    this.#deliveredThrough = db
      .prepare<[bigint], bigint>(
        `SELECT coalesce(
           (SELECT min(delivered_through) FROM consumers WHERE queue_id = q.id),
           (SELECT min(seq) - 1 FROM messages WHERE queue_id = q.id),
           q.last_seq)
         FROM queues q WHERE id = ?`,
      )
      .pluck()
      .safeIntegers();
    this.#create = db
      .prepare<[bigint, string, bigint], bigint>(
        'INSERT INTO consumers (queue_id, name, delivered_through) VALUES (?, ?, ?) RETURNING id',
      )
      .pluck()
      .safeIntegers();
    this.#inherit = db.prepare(
      'INSERT INTO deliveries SELECT ?, seq, 0, 0 FROM messages WHERE queue_id = ? AND seq <= ?',
    );
  }

  find(queue: QueueRow, name: string): bigint | undefined {
    return this.#find.get(queue.id, name);
  }

  /**
   * Inside a transaction. A new name begins at the oldest stored message. Up to where every other name was given everything, messages
   * may be gone between others; those that are left are put in flight for it, due at once.
   */
  join(queue: QueueRow, name: string): bigint {
    const known = this.find(queue, name);
    if (known !== undefined) return known;
    const through = this.#deliveredThrough.get(queue.id)!;
    const id = this.#create.get(queue.id, name, through)!;
    this.#inherit.run(id, queue.id, through);
    return id;
  }
}
