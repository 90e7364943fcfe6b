import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { Op } from '@tidemark/libs-wire';
import type { Append, Batch, Cell, Outcome, Writer, WriterSettings } from './command.ts';
import Database from 'better-sqlite3';
import { connectSqlite, type SqliteStores, storesOn } from './connect.ts';
import { SqliteConnection } from './connection.ts';
import { LogWriter } from './log-writer.ts';
import type { Handle } from './open-file.ts';
import { openToWrite } from './open-to-write.ts';
import { OP_CELLS, OP_COLUMNS, pushCells } from './op-row.ts';

/** A file in a folder of its own, for one test, with whatever was opened on it. */
export class Scratch {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'tidemark-ops-'));
  readonly file = path.join(this.folder, 'ops.sqlite');
  readonly time = new ManualTime();
  readonly #opened: SqliteStores[] = [];

  /** Writes on this thread: the same code as in the writer's, without the time that a thread takes to start. */
  async open(busyTimeoutMs = 5000): Promise<SqliteStores> {
    return this.#keep(storesOn(await this.connect(busyTimeoutMs), this.time));
  }

  async openWithThread(busyTimeoutMs = 5000): Promise<SqliteStores> {
    const { file, time } = this;
    return this.#keep(await connectSqlite({ file, clock: time, sleeper: time, busyTimeoutMs }));
  }

  connect(busyTimeoutMs = 0, open?: () => Handle): Promise<SqliteConnection> {
    const { file, time } = this;
    const writer = new InlineWriter({ file, busyTimeoutMs }, open);
    return SqliteConnection.open({ file, clock: time, sleeper: time, busyTimeoutMs }, writer);
  }

  /** Puts an op at a seq past the adapter. */
  async plant(stream: string, seq: bigint, op: Op): Promise<void> {
    await (await this.open()).close();
    const other = new Database(this.file);
    const sql = `INSERT INTO stream_ops (stream_id, seq, ${OP_COLUMNS}) VALUES (?, ?${', ?'.repeat(OP_CELLS)})`;
    other.prepare(sql).run(stream, seq, ...anAppend(stream, op).cells);
    other.close();
  }

  async close(): Promise<void> {
    for (const stores of this.#opened) await stores.close();
  }

  async remove(): Promise<void> {
    await this.close();
    rmSync(this.folder, { recursive: true });
  }

  #keep(stores: SqliteStores): SqliteStores {
    this.#opened.push(stores);
    return stores;
  }
}

/** An append as the writer's thread is sent it. */
export function anAppend(stream: string, ...ops: readonly Op[]): Append {
  const cells: Cell[] = [];
  for (const op of ops) pushCells(op, cells);
  return { kind: 'append', stream, cells };
}

/** What the writer's thread says of an append whose ops were new. */
export function stored(...seqs: readonly bigint[]): Outcome {
  return { kind: 'done', answer: { seqs, existing: [] } };
}

class InlineWriter implements Writer {
  readonly failed = new Promise<never>(() => {});
  readonly #writer: LogWriter;

  constructor(settings: WriterSettings, open = () => openToWrite(settings.file)) {
    this.#writer = new LogWriter(settings, open);
  }

  async write({ commands, first }: Batch) {
    return this.#writer.write(commands, first);
  }

  async close() {
    this.#writer.close();
  }
}
