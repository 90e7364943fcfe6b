import type { Database } from 'better-sqlite3';
import type { Delivery } from '@tidemark/libs-broker-contract';
import type { DurableConsumer } from './consumers.ts';
import type { Queues } from './queues.ts';
import { type Run, runsOf } from './runs.ts';

/** Takes acks and naks. All but `pending` run inside a transaction. */
export class Settle {
  readonly #queues: Queues;
  readonly #pending;
  readonly #settle;
  readonly #handBack;
  readonly #removeSettled;

  constructor(db: Database, queues: Queues) {
    this.#queues = queues;
    // Seqs of a queue have no gaps, and nothing above delivered_through is ever removed.
    this.#pending = db
      .prepare<[bigint], bigint>(
        `SELECT q.last_seq - c.delivered_through + (SELECT count(*) FROM deliveries WHERE consumer_id = c.id)
         FROM consumers c JOIN queues q ON q.id = c.queue_id WHERE c.id = ?`,
      )
      .pluck()
      .safeIntegers();
    this.#settle = db.prepare('DELETE FROM deliveries WHERE consumer_id = ? AND seq BETWEEN ? AND ?');
    this.#handBack = db.prepare(
      'UPDATE deliveries SET due_at_ms = ? WHERE consumer_id = ? AND seq = ? AND attempt = ?',
    );
    this.#removeSettled = db
      .prepare<[bigint, bigint, bigint], bigint>(
        `DELETE FROM messages WHERE queue_id = ? AND seq BETWEEN ? AND ? AND NOT EXISTS (
           SELECT 1 FROM consumers c WHERE c.queue_id = messages.queue_id AND (
             c.delivered_through < messages.seq
             OR EXISTS (SELECT 1 FROM deliveries d WHERE d.consumer_id = c.id AND d.seq = messages.seq)))
         RETURNING bytes`,
      )
      .pluck()
      .safeIntegers();
  }

  ack(consumer: DurableConsumer, deliveries: readonly Delivery[]): void {
    for (const run of runsOf(deliveries.map(({ seq }) => seq))) {
      // Nothing in flight there: it was acked before, and removed then if it was to be.
      if (this.#settle.run(consumer.id, run.from, run.to).changes > 0) this.#remove(consumer, run);
    }
  }

  nak(consumer: DurableConsumer, deliveries: readonly Delivery[], dueAtMs: number): void {
    // An attempt that somebody else got meanwhile is not this caller's to hand back.
    for (const { seq, attempt } of deliveries) this.#handBack.run(dueAtMs, consumer.id, seq, attempt);
  }

  #remove(consumer: DurableConsumer, { from, to }: Run): void {
    const bytes = this.#removeSettled.all(consumer.queueId, from, to);
    const total = bytes.reduce((sum, more) => sum + more, 0n);
    if (bytes.length > 0) this.#queues.get(consumer.tenant)!.removeMessages(BigInt(bytes.length), total);
  }

  pending(consumer: DurableConsumer): bigint {
    return this.#pending.get(consumer.id)!;
  }
}
