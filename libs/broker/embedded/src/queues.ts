import type { Database } from 'better-sqlite3';
import type { QueueStats } from '@tidemark/libs-broker-contract';
import type { Participant } from './joined-writes.ts';

interface Columns {
  readonly id: bigint;
  readonly name: string;
  readonly bytes_max: bigint;
  readonly bytes: bigint;
  readonly messages: bigint;
  readonly last_seq: bigint;
  readonly dead_letters: bigint;
  readonly last_dead_letter: bigint;
}

/**
 * A queue's row while a transaction counts in it. Nobody else writes it meanwhile, so the counts are exact. Dead letters keep their bytes
 * in the tenant's budget: whoever parks without end fills the own queue and not the disk.
 */
export class QueueRow {
  readonly id: bigint;
  readonly name: string;
  readonly bytesMax: bigint;
  bytes: bigint;
  messages: bigint;
  lastSeq: bigint;
  deadLetters: bigint;
  lastDeadLetter: bigint;
  changed = false;

  constructor(columns: Columns) {
    this.id = columns.id;
    this.name = columns.name;
    this.bytesMax = columns.bytes_max;
    this.bytes = columns.bytes;
    this.messages = columns.messages;
    this.lastSeq = columns.last_seq;
    this.deadLetters = columns.dead_letters;
    this.lastDeadLetter = columns.last_dead_letter;
  }

  fits(bytes: bigint): boolean {
    return this.bytes + bytes <= this.bytesMax;
  }

  /** Counts a message; gives its seq. */
  addMessage(bytes: bigint): bigint {
    this.#count(1n, 0n, bytes);
    return ++this.lastSeq;
  }

  removeMessages(messages: bigint, bytes: bigint): void {
    this.#count(-messages, 0n, -bytes);
  }

  /** Counts a dead letter; gives its id. */
  addDeadLetter(bytes: bigint): bigint {
    this.#count(0n, 1n, bytes);
    return ++this.lastDeadLetter;
  }

  removeDeadLetter(bytes: bigint): void {
    this.#count(0n, -1n, -bytes);
  }

  #count(messages: bigint, deadLetters: bigint, bytes: bigint): void {
    this.messages += messages;
    this.deadLetters += deadLetters;
    this.bytes += bytes;
    this.changed = true;
  }
}

/** The rows of the queues: read once in a transaction, written once at its end. */
export class Queues implements Participant {
  readonly #rows = new Map<string, QueueRow>();
  readonly #find;
  readonly #save;
  readonly #create;
  readonly #resize;
  readonly #tenants;
  readonly #oldest;

  constructor(db: Database) {
    this.#find = db.prepare<[string], Columns>('SELECT * FROM queues WHERE tenant = ?').safeIntegers();
    this.#save = db.prepare(
      `UPDATE queues SET bytes = ?, messages = ?, last_seq = ?, dead_letters = ?, last_dead_letter = ? WHERE id = ?`,
    );
    this.#create = db.prepare(
      `INSERT INTO queues (tenant, name, bytes_max, last_seq, bytes, messages, dead_letters, last_dead_letter)
       VALUES (?, ?, ?, ?, 0, 0, 0, 0)`,
    );
    this.#resize = db.prepare('UPDATE queues SET bytes_max = ? WHERE tenant = ?');
    // The BINARY collation compares the bytes of UTF-8.
    this.#tenants = db.prepare<[], string>('SELECT tenant FROM queues ORDER BY tenant').pluck();
    this.#oldest = db
      .prepare<[bigint], number>('SELECT stored_at_ms FROM messages WHERE queue_id = ? ORDER BY seq LIMIT 1')
      .pluck();
  }

  begin(): void {
    this.#rows.clear();
  }

  finish(): void {
    for (const row of this.#rows.values()) {
      if (!row.changed) continue;
      this.#save.run(row.bytes, row.messages, row.lastSeq, row.deadLetters, row.lastDeadLetter, row.id);
    }
  }

  /** Inside a transaction. */
  get(tenant: string): QueueRow | undefined {
    const known = this.#rows.get(tenant);
    if (known) return known;
    const row = this.look(tenant);
    if (row) this.#rows.set(tenant, row);
    return row;
  }

  /** Outside of one: as it stands. */
  look(tenant: string): QueueRow | undefined {
    const columns = this.#find.get(tenant);
    return columns && new QueueRow(columns);
  }

  /** On the queue's clock; undefined for an empty queue. */
  oldestStoredAtMs({ id }: QueueRow): number | undefined {
    return this.#oldest.get(id);
  }

  /** Inside a transaction. Seqs of a new queue rise from `seqFrom`. */
  open(tenant: string, bytesMax: bigint, name: string, seqFrom: bigint): void {
    if (this.#resize.run(bytesMax, tenant).changes === 0) this.#create.run(tenant, name, bytesMax, seqFrom);
    this.#rows.delete(tenant);
  }

  tenants(): readonly string[] {
    return this.#tenants.all();
  }
}

export function statsOf({ messages, bytes, bytesMax, deadLetters }: QueueRow): Omit<QueueStats, 'oldestAgeMs'> {
  return { messages, bytes, bytesMax, deadLetters };
}
