import { Fault } from '@tidemark/libs-kernel';
import type Database from 'better-sqlite3';
import { DataSource } from 'typeorm';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { assertReadable, isCurrent, migrate } from './migrate.ts';

export type Handle = Database.Database;

export interface OpenFile {
  readonly dataSource: DataSource;
  /**
   * TypeORM's own connection. Statements are prepared on it and transactions run on it synchronously, because overlapping transactions
   * of TypeORM share one connection and tear each other apart.
   */
  readonly handle: Handle;
}

/** Opens the file and brings it to this build's format. What is not ours or newer is left untouched (OPS-5). */
export async function openFile(file: string, busyTimeoutMs: number): Promise<OpenFile> {
  const dataSource = new DataSource({
    type: 'better-sqlite3',
    database: file,
    timeout: busyTimeoutMs,
    prepareDatabase: (handle: Handle) => prepare(handle, file),
  });
  await dataSource.initialize();
  const handle = (dataSource.driver as BetterSqlite3Driver).databaseConnection as Handle;
  try {
    if (!isCurrent(handle)) await migrate(dataSource, handle);
  } catch (thrown) {
    await dataSource.destroy();
    throw thrown;
  }
  return { dataSource, handle };
}

function prepare(handle: Handle, file: string): void {
  try {
    assertReadable(handle, file);
    const mode = handle.pragma('journal_mode = WAL', { simple: true });
    if (mode !== 'wal') {
      throw new Fault('misconfigured', `${file} lies where SQLite cannot keep a write-ahead log (mode ${mode})`);
    }
    handle.pragma('synchronous = FULL');
  } catch (thrown) {
    handle.close();
    throw thrown;
  }
}
