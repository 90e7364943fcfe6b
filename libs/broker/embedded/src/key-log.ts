import type { Database } from 'better-sqlite3';
import type { Participant } from './joined-writes.ts';
import { KeyHints, hashOf } from './key-hints.ts';

/** Ended rows that a transaction removes for each row that it adds: more than one, so that the log shrinks when there are fewer. */
const SWEPT_PER_ADDED = 2;
/** Places of keys in a row; more than a transaction has writes. */
const PLACES = 1024;

/** Keys that one transaction stored in one queue: keys[i] belongs to the message first_seq + i; null where that has none. */
interface KeyRow {
  readonly id: number;
  readonly queueId: number;
  readonly firstSeq: bigint;
  readonly storedAtMs: number;
  readonly keys: readonly (string | null)[];
}

interface Columns {
  readonly id: bigint;
  readonly queue_id: bigint;
  readonly first_seq: bigint;
  readonly stored_at_ms: bigint;
  readonly keys: string;
}

interface Added {
  readonly firstSeq: bigint;
  readonly seqs: Map<string, bigint>;
}

/**
 * The idempotency keys of the window (BRK-2): on disk as one row for each transaction and queue, in the order in which they were stored,
 * so that storing and sweeping touch few pages; in memory hints to find them by. A process reads the log when it first publishes with a
 * key, and then in each transaction what others have added, so all see the same keys.
 */
export class KeyLog implements Participant {
  readonly #windowMs: number;
  readonly #hints: KeyHints;
  /** Of the running transaction; only what is committed becomes a hint. */
  readonly #added = new Map<bigint, Added>();
  #readThrough = 0;
  #nowMs = 0;
  #caughtUp = false;
  /** Repeats come mostly in the windows in which their first copies came. */
  #lastFound: KeyRow | undefined;
  readonly #after;
  readonly #row;
  readonly #insert;
  readonly #oldest;
  readonly #sweep;

  constructor(db: Database, windowMs: number) {
    this.#windowMs = windowMs;
    this.#hints = new KeyHints(windowMs);
    this.#after = db.prepare<[number], Columns>('SELECT * FROM keys WHERE id > ? ORDER BY id').safeIntegers();
    this.#row = db.prepare<[number], Columns>('SELECT * FROM keys WHERE id = ?').safeIntegers();
    this.#insert = db.prepare('INSERT INTO keys (queue_id, first_seq, stored_at_ms, keys) VALUES (?, ?, ?, ?)');
    this.#oldest = db.prepare<[], number>('SELECT stored_at_ms FROM keys ORDER BY id LIMIT 1').pluck();
    // The newest row stays, so that no id is given twice: other processes read on from the last one they saw.
    this.#sweep = db.prepare(
      `DELETE FROM keys WHERE id IN (SELECT id FROM keys ORDER BY id LIMIT ?)
       AND stored_at_ms <= ? AND id < (SELECT max(id) FROM keys)`,
    );
  }

  begin(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#caughtUp = false;
    this.#lastFound = undefined;
    this.#added.clear();
  }

  /** Seq of the copy that was stored under this key inside the window. */
  firstCopy(queueId: bigint, key: string): bigint | undefined {
    if (!this.#caughtUp) this.#catchUp();
    const queue = Number(queueId);
    const added = this.#added.get(queueId)?.seqs.get(key);
    return added ?? this.#hints.find(hashOf(queue, key), (place) => this.#seqAt(place, queue, key));
  }

  remember(queueId: bigint, key: string, seq: bigint): void {
    const added = this.#added.get(queueId);
    if (added) added.seqs.set(key, seq);
    else this.#added.set(queueId, { firstSeq: seq, seqs: new Map([[key, seq]]) });
  }

  finish(): void {
    if (this.#added.size === 0) return;
    for (const [queueId, added] of this.#added)
      this.#insert.run(queueId, added.firstSeq, this.#nowMs, JSON.stringify(byPlace(added)));
    const endedMs = this.#nowMs - this.#windowMs;
    if (this.#oldest.get()! <= endedMs) this.#sweep.run(this.#added.size * SWEPT_PER_ADDED, endedMs);
  }

  #catchUp(): void {
    for (const columns of this.#after.iterate(this.#readThrough)) {
      const { id, queueId, storedAtMs, keys } = rowOf(columns);
      for (const [at, key] of keys.entries())
        if (key !== null) this.#hints.add(hashOf(queueId, key), id * PLACES + at, storedAtMs);
      this.#readThrough = id;
    }
    this.#caughtUp = true;
  }

  #seqAt(place: number, queueId: number, key: string): bigint | undefined {
    const at = place % PLACES;
    const row = this.#find((place - at) / PLACES);
    if (row?.queueId !== queueId || row.keys[at] !== key) return undefined;
    return this.#nowMs < row.storedAtMs + this.#windowMs ? row.firstSeq + BigInt(at) : undefined;
  }

  #find(id: number): KeyRow | undefined {
    if (this.#lastFound?.id === id) return this.#lastFound;
    const columns = this.#row.get(id);
    return columns && (this.#lastFound = rowOf(columns));
  }
}

function byPlace({ firstSeq, seqs }: Added): (string | null)[] {
  const keys: (string | null)[] = [];
  for (const [key, seq] of seqs) {
    const place = Number(seq - firstSeq);
    while (keys.length < place) keys.push(null);
    keys.push(key);
  }
  return keys;
}

function rowOf({ id, queue_id, first_seq, stored_at_ms, keys }: Columns): KeyRow {
  return {
    id: Number(id),
    queueId: Number(queue_id),
    firstSeq: first_seq,
    storedAtMs: Number(stored_at_ms),
    keys: JSON.parse(keys) as (string | null)[],
  };
}
