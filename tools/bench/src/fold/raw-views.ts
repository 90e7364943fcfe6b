import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import { connectSqliteViews } from '@tidemark/libs-views-sql';
import Database from 'better-sqlite3';

const BATCH = 500;

/** The same table and pragmas, written by plain better-sqlite3: whatever comes last stays, and nothing is remembered of what was done. */
export class RawViews {
  readonly #db: Database.Database;
  readonly #folder: string;
  readonly #batch: (stream: string, ops: readonly SequencedOp[]) => void;

  private constructor(folder: string, file: string) {
    this.#folder = folder;
    this.#db = new Database(file);
    this.#db.pragma('synchronous = NORMAL');
    const put = this.#db.prepare(`
      INSERT INTO cells (stream, epoch, kind, id, field, member, shape, rank, lamport, site, seq, value)
      VALUES (?, 1, ?, ?, ?, '', 'register', 0, ?, ?, ?, ?)
      ON CONFLICT (stream, epoch, kind, id, field, member) DO UPDATE SET lamport = excluded.lamport,
      site = excluded.site, seq = excluded.seq, value = excluded.value`);
    this.#batch = this.#db.transaction((stream: string, ops: readonly SequencedOp[]) => {
      for (const { seq, op } of ops)
        put.run(stream, op.targetKind, op.targetId, op.field, op.lamport, op.site, seq, op.value);
    });
  }

  static async make(): Promise<RawViews> {
    const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-bench-views-'));
    const file = path.join(folder, 'views.sqlite');
    await (await connectSqliteViews({ file })).close();
    return new RawViews(folder, file);
  }

  upsert(stream: string, ops: readonly SequencedOp[]): void {
    for (let n = 0; n < ops.length; n += BATCH) this.#batch(stream, ops.slice(n, n + BATCH));
  }

  /** Ids in UTF-8 order, each with its value. */
  values(stream: string): unknown[] {
    return this.#db.prepare('SELECT id, value FROM cells WHERE stream = ? ORDER BY id').raw().all(stream);
  }

  remove(): void {
    this.#db.close();
    rmSync(this.#folder, { recursive: true });
  }
}
