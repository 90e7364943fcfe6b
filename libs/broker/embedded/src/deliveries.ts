import type { Database } from 'better-sqlite3';
import type { Delivery } from '@tidemark/libs-broker-contract';
import type { Queues } from './queues.ts';
import { type Run, runsOf } from './runs.ts';

/** Deliveries of one durable name that may be unacked: bounds the rows, and what a consumer that never acks takes. */
const IN_FLIGHT_MAX = 10_000;
/** Bodies in one fetch; the first delivery is given whatever its size. */
const FETCH_BYTES_MAX = 16n * 1024n * 1024n;

/** A durable name of a queue. */
export interface DurableConsumer {
  readonly id: bigint;
  readonly tenant: string;
  readonly queueId: bigint;
  readonly queueName: string;
}

interface MessageRow {
  readonly seq: bigint;
  readonly bytes: bigint;
  readonly table_name: string;
  readonly key: string | null;
  readonly body: Buffer;
  readonly attempt: bigint;
}

export interface Sight {
  /** A fetch would find something. */
  readonly ready: boolean;
  /** When the next delivery in flight is due again, in ms from now; Infinity when none is. */
  readonly dueInMs: number;
}

/** Which message is where with which consumer. All but `look` and `pending` run inside a transaction. */
export class Deliveries {
  readonly #queues: Queues;
  readonly #look;
  readonly #pending;
  readonly #place;
  readonly #inFlight;
  readonly #due;
  readonly #redeliver;
  readonly #fresh;
  readonly #deliver;
  readonly #advance;
  readonly #settle;
  readonly #handBack;
  readonly #removeSettled;

  constructor(db: Database, queues: Queues) {
    this.#queues = queues;
    this.#look = db
      .prepare<[number, bigint], { readonly fresh: bigint; readonly due: bigint | null }>(
        `SELECT q.last_seq > c.delivered_through
                AND (SELECT count(*) FROM deliveries WHERE consumer_id = c.id) < ? AS fresh,
                (SELECT min(due_at_ms) FROM deliveries WHERE consumer_id = c.id) AS due
         FROM consumers c JOIN queues q ON q.id = c.queue_id WHERE c.id = ?`,
      )
      .safeIntegers();
    // Seqs of a queue have no gaps, and nothing above delivered_through is ever removed.
    this.#pending = db
      .prepare<[bigint], bigint>(
        `SELECT q.last_seq - c.delivered_through + (SELECT count(*) FROM deliveries WHERE consumer_id = c.id)
         FROM consumers c JOIN queues q ON q.id = c.queue_id WHERE c.id = ?`,
      )
      .pluck()
      .safeIntegers();
    this.#place = db
      .prepare<[bigint], bigint>('SELECT delivered_through FROM consumers WHERE id = ?')
      .pluck()
      .safeIntegers();
    this.#inFlight = db.prepare<[bigint], number>('SELECT count(*) FROM deliveries WHERE consumer_id = ?').pluck();
    this.#due = db
      .prepare<[bigint, bigint, number, number], MessageRow>(
        `SELECT m.seq, m.bytes, m.table_name, m.key, m.body, d.attempt + 1 AS attempt
         FROM deliveries d INDEXED BY deliveries_due CROSS JOIN messages m ON m.queue_id = ? AND m.seq = d.seq
         WHERE d.consumer_id = ? AND d.due_at_ms <= ? ORDER BY d.seq LIMIT ?`,
      )
      .safeIntegers();
    this.#redeliver = db.prepare(
      'UPDATE deliveries SET attempt = attempt + 1, due_at_ms = ? WHERE consumer_id = ? AND seq = ?',
    );
    this.#fresh = db
      .prepare<[bigint, bigint, number], MessageRow>(
        `SELECT seq, bytes, table_name, key, body, 1 AS attempt FROM messages
         WHERE queue_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
      )
      .safeIntegers();
    this.#deliver = db.prepare(
      `INSERT INTO deliveries SELECT ?, seq, 1, ? FROM messages WHERE queue_id = ? AND seq BETWEEN ? AND ?`,
    );
    this.#advance = db.prepare('UPDATE consumers SET delivered_through = ? WHERE id = ?');
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

  look(consumer: DurableConsumer, nowMs: number): Sight {
    const { fresh, due } = this.#look.get(IN_FLIGHT_MAX, consumer.id)!;
    const dueInMs = due === null ? Infinity : Number(due) - nowMs;
    return { ready: fresh === 1n || dueInMs <= 0, dueInMs };
  }

  pending(consumer: DurableConsumer): bigint {
    return this.#pending.get(consumer.id)!;
  }

  /** What is due again, then what is new: oldest first. */
  claim(consumer: DurableConsumer, max: number, nowMs: number, ackWaitMs: number): Delivery[] {
    const dueAtMs = nowMs + ackWaitMs;
    const room = new Room(Math.min(max, IN_FLIGHT_MAX));
    const due = room.fill(this.#due.iterate(consumer.queueId, consumer.id, nowMs, room.left));
    for (const { seq } of due) this.#redeliver.run(dueAtMs, consumer.id, seq);
    const fresh = this.#claimFresh(consumer, room, dueAtMs);
    return [...due, ...fresh].map((row) => deliveryOf(consumer, row));
  }

  #claimFresh(consumer: DurableConsumer, room: Room, dueAtMs: number): MessageRow[] {
    const max = Math.min(room.left, IN_FLIGHT_MAX - this.#inFlight.get(consumer.id)!);
    if (max <= 0) return [];
    const rows = room.fill(this.#fresh.iterate(consumer.queueId, this.#place.get(consumer.id)!, max));
    const [first, last] = [rows[0], rows.at(-1)];
    if (first && last) {
      this.#deliver.run(consumer.id, dueAtMs, consumer.queueId, first.seq, last.seq);
      this.#advance.run(last.seq, consumer.id);
    }
    return rows;
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
}

/** How much of one fetch is left. */
class Room {
  left: number;
  #bytes = 0n;

  constructor(max: number) {
    this.left = max;
  }

  fill(rows: Iterable<MessageRow>): MessageRow[] {
    const taken: MessageRow[] = [];
    if (this.left <= 0) return taken;
    for (const row of rows) {
      this.#bytes += row.bytes;
      if (this.#bytes > FETCH_BYTES_MAX && this.#bytes > row.bytes) {
        this.left = 0;
        return taken;
      }
      taken.push(row);
      if (--this.left === 0) return taken;
    }
    return taken;
  }
}

function deliveryOf({ tenant, queueName }: DurableConsumer, row: MessageRow): Delivery {
  return {
    topic: { tenant, table: row.table_name },
    queue: queueName,
    seq: row.seq,
    body: row.body,
    idempotencyKey: row.key,
    attempt: Number(row.attempt),
  };
}
