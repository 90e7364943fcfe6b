import type { Database } from 'better-sqlite3';
import type { Delivery } from '@tidemark/libs-broker-contract';
import type { DurableConsumer } from './consumers.ts';

/** Deliveries of one durable name that may be unacked: bounds the rows, and what a consumer that never acks takes. */
const IN_FLIGHT_MAX = 10_000;
/** Bodies in one fetch; the first delivery is given whatever its size. */
const FETCH_BYTES_MAX = 16n * 1024n * 1024n;

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

/** Gives messages out, and remembers until when they are to be settled. */
export class Claim {
  readonly #look;
  readonly #place;
  readonly #inFlight;
  readonly #due;
  readonly #redeliver;
  readonly #fresh;
  readonly #deliver;
  readonly #advance;

  constructor(db: Database) {
    this.#look = db
      .prepare<[number, bigint], { readonly fresh: bigint; readonly due: bigint | null }>(
        `SELECT q.last_seq > c.delivered_through
                AND (SELECT count(*) FROM deliveries WHERE consumer_id = c.id) < ? AS fresh,
                (SELECT min(due_at_ms) FROM deliveries WHERE consumer_id = c.id) AS due
         FROM consumers c JOIN queues q ON q.id = c.queue_id WHERE c.id = ?`,
      )
      .safeIntegers();
    this.#place = db
      .prepare<[bigint], bigint>('SELECT delivered_through FROM consumers WHERE id = ?')
      .pluck()
      .safeIntegers();
    this.#inFlight = db.prepare<[bigint], number>('SELECT count(*) FROM deliveries WHERE consumer_id = ?').pluck();
    // The seqs are sorted before the bodies are read, one by one.
    this.#due = db
      .prepare<[bigint, number, number, bigint], MessageRow>(
        `SELECT m.seq, m.bytes, m.table_name, m.key, m.body, d.attempt + 1 AS attempt
         FROM (SELECT seq, attempt FROM deliveries INDEXED BY deliveries_due
               WHERE consumer_id = ? AND due_at_ms <= ? ORDER BY seq LIMIT ?) d
         CROSS JOIN messages m ON m.queue_id = ? AND m.seq = d.seq`,
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
  }

  look(consumer: DurableConsumer, nowMs: number): Sight {
    const { fresh, due } = this.#look.get(IN_FLIGHT_MAX, consumer.id)!;
    const dueInMs = due === null ? Infinity : Number(due) - nowMs;
    return { ready: fresh === 1n || dueInMs <= 0, dueInMs };
  }

  /** Inside a transaction. What is due again, then what is new: oldest first. */
  run(consumer: DurableConsumer, max: number, nowMs: number, ackWaitMs: number): Delivery[] {
    const dueAtMs = nowMs + ackWaitMs;
    const room = new Room(Math.min(max, IN_FLIGHT_MAX));
    const due = room.fill((max) => this.#due.iterate(consumer.id, nowMs, max, consumer.queueId));
    for (const { seq } of due) this.#redeliver.run(dueAtMs, consumer.id, seq);
    const fresh = this.#claimFresh(consumer, room, dueAtMs);
    return [...due, ...fresh].map((row) => deliveryOf(consumer, row));
  }

  #claimFresh(consumer: DurableConsumer, room: Room, dueAtMs: number): MessageRow[] {
    room.limit(IN_FLIGHT_MAX - this.#inFlight.get(consumer.id)!);
    const place = this.#place.get(consumer.id)!;
    const rows = room.fill((max) => this.#fresh.iterate(consumer.queueId, place, max));
    const [first, last] = [rows[0], rows.at(-1)];
    if (first && last) {
      this.#deliver.run(consumer.id, dueAtMs, consumer.queueId, first.seq, last.seq);
      this.#advance.run(last.seq, consumer.id);
    }
    return rows;
  }
}

/** How much of one fetch is left. */
class Room {
  #messages: number;
  #bytes = 0n;

  constructor(messages: number) {
    this.#messages = messages;
  }

  limit(messages: number): void {
    this.#messages = Math.min(this.#messages, messages);
  }

  /** `read` is called only when there is room: a read that nobody ends would hold up the connection. */
  fill(read: (max: number) => Iterable<MessageRow>): MessageRow[] {
    const taken: MessageRow[] = [];
    if (this.#messages < 1) return taken;
    for (const row of read(this.#messages)) {
      this.#bytes += row.bytes;
      if (this.#bytes > FETCH_BYTES_MAX && this.#bytes > row.bytes) {
        this.#messages = 0;
        return taken;
      }
      taken.push(row);
    }
    this.#messages -= taken.length;
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
