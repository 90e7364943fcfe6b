import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { connectSqlite, type SqliteStores } from './connect.ts';

/** A file in a folder of its own, for one test, with whatever was opened on it. */
export class Scratch {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'tidemark-ops-'));
  readonly file = path.join(this.folder, 'ops.sqlite');
  readonly time = new ManualTime();
  readonly #opened: SqliteStores[] = [];

  async open(busyTimeoutMs = 5000): Promise<SqliteStores> {
    const { file, time } = this;
    const stores = await connectSqlite({ file, clock: time, sleeper: time, busyTimeoutMs });
    this.#opened.push(stores);
    return stores;
  }

  async remove(): Promise<void> {
    for (const stores of this.#opened) await stores.close();
    rmSync(this.folder, { recursive: true });
  }
}
