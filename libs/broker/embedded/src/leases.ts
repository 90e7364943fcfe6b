import type { Database } from 'better-sqlite3';
import type { Lease } from '@tidemark/libs-broker-contract';
import type { JoinedWrites } from './joined-writes.ts';
import { throwFault } from './map-error.ts';

/**
 * Leases in the file, in the queue's time. A term is counted up with every owner, so that who held an earlier term changes nothing.
 * Not durable: a power cut ends the processes that held them too.
 */
export class Leases {
  readonly #writes: JoinedWrites;
  readonly #acquire;
  readonly #renew;
  readonly #release;

  constructor(db: Database, writes: JoinedWrites) {
    this.#writes = writes;
    this.#acquire = db
      .prepare<[string, string, number, number], bigint>(
        `INSERT INTO leases VALUES (?, ?, 1, ?) ON CONFLICT (name) DO UPDATE
         SET owner = excluded.owner, term = term + 1, ends_at_ms = excluded.ends_at_ms
         WHERE owner = excluded.owner OR ends_at_ms <= ? RETURNING term`,
      )
      .pluck()
      .safeIntegers();
    this.#renew = db.prepare<[number, string, bigint, number]>(
      'UPDATE leases SET ends_at_ms = ? WHERE name = ? AND term = ? AND ends_at_ms > ?',
    );
    this.#release = db.prepare<[string, bigint]>('UPDATE leases SET ends_at_ms = 0 WHERE name = ? AND term = ?');
  }

  async acquire(name: string, owner: string, ttl: number): Promise<Lease | null> {
    const ttlMs = Math.ceil(ttl);
    const term = await this.#write((nowMs) => this.#acquire.get(name, owner, nowMs + ttlMs, nowMs));
    if (term === undefined) return null;
    return {
      renew: () => this.#write((nowMs) => this.#renew.run(nowMs + ttlMs, name, term, nowMs).changes > 0),
      release: () => this.#write(() => void this.#release.run(name, term)),
    };
  }

  #write<T>(work: (nowMs: number) => T): Promise<T> {
    return this.#writes.run({ work, durable: false, wakes: false }).catch(throwFault);
  }
}
