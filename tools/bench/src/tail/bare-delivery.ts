import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import { type NatsConnection, connect } from 'nats';
import { type Delivery, inOrder, nowMs } from './delivery.ts';

/** Commits a row to SQLite, with its fsync, tells it through NATS, and another process selects it. No HTTP, no decoding. */
export class BareDelivery implements Delivery {
  readonly name = 'better-sqlite3 commit, NATS, select';
  readonly #db: Sqlite.Database;
  readonly #insert: Sqlite.Statement<[string]>;
  readonly #nats: NatsConnection;
  readonly #reader: ChildProcess;
  readonly #seen: string[] = [];
  #sent = 0;

  private constructor(db: Sqlite.Database, nats: NatsConnection, reader: ChildProcess) {
    this.#db = db;
    this.#insert = db.prepare('INSERT INTO ops (value) VALUES (?)');
    this.#nats = nats;
    this.#reader = reader;
  }

  static async open(folder: string, servers: string): Promise<BareDelivery> {
    const file = path.join(folder, 'bare.sqlite');
    const db = new Sqlite(file);
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.exec('CREATE TABLE ops (seq INTEGER PRIMARY KEY, value TEXT)');
    const reader = fork(path.join(import.meta.dirname, 'bare-reader.ts'), [file, servers]);
    await once(reader, 'message');
    return new BareDelivery(db, await connect({ servers }), reader);
  }

  async deliver(): Promise<number> {
    const heard = once(this.#reader, 'message');
    const startMs = nowMs();
    this.#insert.run(`op-${++this.#sent}`);
    this.#nats.publish('appended');
    const [{ ids, atMs }] = (await heard) as [{ ids: string[]; atMs: number }];
    this.#seen.push(...ids);
    return atMs - startMs;
  }

  verify(): number {
    return inOrder(this.#seen, this.#sent);
  }

  async close(): Promise<void> {
    this.#reader.kill();
    await this.#nats.close();
    this.#db.close();
  }
}
