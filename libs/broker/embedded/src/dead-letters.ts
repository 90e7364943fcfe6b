import type { Database } from 'better-sqlite3';
import { type DeadLetter, type Delivery, budgetBytes } from '@tidemark/libs-broker-contract';
import type { QueueRow } from './queues.ts';

interface DeadLetterRow {
  readonly id: bigint;
  readonly seq: bigint;
  readonly table_name: string;
  readonly key: string | null;
  readonly body: Buffer;
  readonly reason: string;
  readonly parked_at_ms: bigint;
}

/** Bodies that a consumer could do nothing with. A message is parked once, however often it is redelivered. */
export class DeadLetters {
  readonly #isParked;
  readonly #insert;
  readonly #list;
  readonly #remove;

  constructor(db: Database) {
    this.#isParked = db.prepare<[bigint, bigint], number>('SELECT 1 FROM dead_letters WHERE queue_id = ? AND seq = ?');
    this.#insert = db.prepare('INSERT INTO dead_letters VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#list = db
      .prepare<[bigint, bigint, number], DeadLetterRow>(
        'SELECT * FROM dead_letters WHERE queue_id = ? AND id > ? ORDER BY id LIMIT ?',
      )
      .safeIntegers();
    this.#remove = db
      .prepare<[bigint, bigint], bigint>('DELETE FROM dead_letters WHERE queue_id = ? AND id = ? RETURNING bytes')
      .pluck()
      .safeIntegers();
  }

  /** Inside a transaction. Never refused for the budget: the message that it copies is acked next. */
  park(queue: QueueRow, delivery: Delivery, reason: string, parkedAtMs: number): void {
    const { seq, topic, idempotencyKey, body } = delivery;
    if (this.#isParked.get(queue.id, seq)) return;
    const bytes = budgetBytes(topic.table, idempotencyKey, body, reason);
    const id = queue.addDeadLetter(bytes);
    this.#insert.run(queue.id, id, seq, bytes, topic.table, idempotencyKey, body, reason, BigInt(parkedAtMs));
  }

  list(queue: QueueRow, tenant: string, after: bigint, limit: number): readonly DeadLetter[] {
    return this.#list.all(queue.id, after, limit).map((row) => ({
      id: row.id,
      topic: { tenant, table: row.table_name },
      queue: queue.name,
      seq: row.seq,
      body: row.body,
      idempotencyKey: row.key,
      reason: row.reason,
      parkedAtMs: Number(row.parked_at_ms),
    }));
  }

  /** Inside a transaction. */
  remove(queue: QueueRow, id: bigint): boolean {
    const bytes = this.#remove.get(queue.id, id);
    if (bytes !== undefined) queue.removeDeadLetter(bytes);
    return bytes !== undefined;
  }
}
