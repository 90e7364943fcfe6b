import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { connectSqlite } from '@tidemark/libs-op-store-sql';
import type { Op } from '@tidemark/libs-wire';
import Database from 'better-sqlite3';

const COLUMNS =
  'stream_id, seq, envelope_version, op_id, lamport, site, domain, target_kind, target_id, field, op_type, value, author, wall_clock, extra';

const FILL = 10_000;

/** The relay's own tables and pragmas, written by plain better-sqlite3: no look for the head or a repeat, one transaction at a time. */
export class RawFile {
  readonly file: string;
  readonly db: Database.Database;
  readonly #folder: string;
  readonly #insert: Database.Statement;
  readonly #transaction: (stream: string, first: bigint, ops: readonly Op[]) => void;

  private constructor(folder: string, file: string) {
    this.#folder = folder;
    this.file = file;
    this.db = new Database(file);
    this.db.pragma('synchronous = FULL');
    this.db.pragma('wal_autocheckpoint = 4000');
    this.#insert = this.db.prepare(`INSERT INTO stream_ops (${COLUMNS}) VALUES (?${', ?'.repeat(14)})`);
    this.#transaction = this.db.transaction((stream: string, first: bigint, ops: readonly Op[]) => {
      let seq = first;
      for (const op of ops) this.#put(stream, seq++, op);
    });
  }

  static async make(): Promise<RawFile> {
    const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-bench-sqlite-'));
    const [file, time] = [path.join(folder, 'relay.sqlite'), new ManualTime()];
    await (await connectSqlite({ file, clock: time, sleeper: time })).close();
    return new RawFile(folder, file);
  }

  append(stream: string, first: bigint, ops: readonly Op[]): void {
    this.#transaction(stream, first, ops);
  }

  /** Adds rows as fast as it goes, on disk when it returns. */
  fill(stream: string, from: number, to: number, opsFrom: (n: number) => Op[]): void {
    this.db.pragma('synchronous = OFF');
    this.db.pragma('cache_size = -400000');
    for (let n = from; n < to; n += FILL) this.append(stream, BigInt(n + 1), opsFrom(Math.min(FILL, to - n)));
    this.db.pragma('synchronous = FULL');
    this.db.pragma('wal_checkpoint(TRUNCATE)');
  }

  remove(): void {
    this.db.close();
    rmSync(this.#folder, { recursive: true });
  }

  #put(stream: string, seq: bigint, op: Op): void {
    const { envelopeVersion, opId, lamport, site, domain, targetKind, targetId, field, opType } = op;
    const { value, author, wallClock, extra } = op;
    const target = [domain, targetKind, targetId, field, opType];
    this.#insert.run(stream, seq, envelopeVersion, opId, lamport, site, ...target, value, author, wallClock, extra);
  }
}
