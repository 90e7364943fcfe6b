import type { Database } from 'better-sqlite3';
import type { Participant } from './joined-writes.ts';
import { KeyHints, hashOf } from './key-hints.ts';

/** Ended keys that a transaction removes for each key that it stores: more than one, so that the log shrinks when there are fewer. */
const SWEPT_PER_STORED = 2;

interface KeyRow {
  readonly id: number;
  readonly queue_id: number;
  readonly key: string;
  readonly stored_at_ms: number;
}

/**
 * The idempotency keys of the window (BRK-2): on disk in the order in which they were stored, so that storing, and sweeping those whose
 * window ended, touch few pages; in memory hints to find them by. A process reads the log when it first publishes with a key, and then
 * in each transaction what others have added, so all see the same keys.
 */
export class KeyLog implements Participant {
  readonly #windowMs: number;
  readonly #hints: KeyHints;
  /** Keys of the running transaction; only a committed row becomes a hint. */
  readonly #stored = new Map<string, bigint>();
  #readThrough = 0;
  #nowMs = 0;
  #caughtUp = false;
  readonly #after;
  readonly #row;
  readonly #insert;
  readonly #oldest;
  readonly #sweep;

  constructor(db: Database, windowMs: number) {
    this.#windowMs = windowMs;
    this.#hints = new KeyHints(windowMs);
    this.#after = db.prepare<[number], KeyRow>(
      'SELECT id, queue_id, key, stored_at_ms FROM keys WHERE id > ? ORDER BY id',
    );
    this.#row = db
      .prepare<
        [number],
        { readonly queue_id: bigint; readonly key: string; readonly seq: bigint; stored_at_ms: bigint }
      >('SELECT queue_id, key, seq, stored_at_ms FROM keys WHERE id = ?')
      .safeIntegers();
    this.#insert = db.prepare('INSERT INTO keys (queue_id, key, seq, stored_at_ms) VALUES (?, ?, ?, ?)');
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
    this.#stored.clear();
  }

  /** Seq of the copy that was stored under this key inside the window. */
  firstCopy(queueId: bigint, key: string): bigint | undefined {
    if (!this.#caughtUp) this.#catchUp();
    return (
      this.#stored.get(`${queueId}/${key}`) ??
      this.#hints.find(hashOf(queueId, key), (id) => this.#seqAt(id, queueId, key))
    );
  }

  remember(queueId: bigint, key: string, seq: bigint): void {
    this.#insert.run(queueId, key, seq, this.#nowMs);
    this.#stored.set(`${queueId}/${key}`, seq);
  }

  finish(nowMs: number): void {
    if (this.#stored.size === 0) return;
    const endedMs = nowMs - this.#windowMs;
    if (this.#oldest.get()! <= endedMs) this.#sweep.run(this.#stored.size * SWEPT_PER_STORED, endedMs);
  }

  #catchUp(): void {
    for (const { id, queue_id, key, stored_at_ms } of this.#after.iterate(this.#readThrough)) {
      this.#hints.add(hashOf(BigInt(queue_id), key), id, stored_at_ms);
      this.#readThrough = id;
    }
    this.#caughtUp = true;
  }

  #seqAt(id: number, queueId: bigint, key: string): bigint | undefined {
    const row = this.#row.get(id);
    const same = row?.queue_id === queueId && row.key === key;
    return same && this.#nowMs < Number(row.stored_at_ms) + this.#windowMs ? row.seq : undefined;
  }
}
