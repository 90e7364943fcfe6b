import { Fault } from '@tidemark/libs-kernel';
import type Database from 'better-sqlite3';
import { DataSource } from 'typeorm';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { APPLICATION_ID, FORMAT, migrations } from './migrations.ts';

export type Handle = Database.Database;

export interface OpenFile {
  readonly dataSource: DataSource;
  /** TypeORM's own connection: statements are prepared on it, because a transaction there is synchronous and cannot be torn apart. */
  readonly handle: Handle;
}

/** Opens the file and brings it to this build's format. A file of a newer format, or of something else, is left untouched (OPS-5). */
export async function openFile(file: string, busyTimeoutMs: number): Promise<OpenFile> {
  const dataSource = new DataSource({
    type: 'better-sqlite3',
    database: file,
    timeout: busyTimeoutMs,
    migrations,
    prepareDatabase: (handle: Handle) => prepare(handle, file),
  });
  await dataSource.initialize();
  const handle = (dataSource.driver as BetterSqlite3Driver).databaseConnection as Handle;
  try {
    if (formatOf(handle) < FORMAT) await migrate(dataSource, handle);
  } catch (thrown) {
    await dataSource.destroy();
    throw thrown;
  }
  return { dataSource, handle };
}

function prepare(handle: Handle, file: string): void {
  try {
    refuseForeign(handle, file);
    handle.pragma('journal_mode = WAL');
    handle.pragma('synchronous = NORMAL');
  } catch (thrown) {
    handle.close();
    throw thrown;
  }
}

function refuseForeign(handle: Handle, file: string): void {
  const isEmpty = handle.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get() === undefined;
  if (isEmpty) return;
  if (handle.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw new Fault('misconfigured', `${file} is not a file of folded views`);
  }
  if (formatOf(handle) > FORMAT) {
    throw new Fault(
      'misconfigured',
      `${file} has format ${formatOf(handle)}, and this build reads up to ${FORMAT}: start a newer build`,
    );
  }
}

/**
 * All of it in one transaction that takes the write lock first: of several processes that open a new file together, one migrates and the
 * others find it done.
 */
async function migrate(dataSource: DataSource, handle: Handle): Promise<void> {
  handle.exec('BEGIN IMMEDIATE');
  try {
    if (formatOf(handle) < FORMAT) await dataSource.runMigrations({ transaction: 'none' });
    handle.exec('COMMIT');
  } catch (thrown) {
    if (handle.inTransaction) handle.exec('ROLLBACK');
    throw thrown;
  }
}

function formatOf(handle: Handle): number {
  return handle.pragma('user_version', { simple: true }) as number;
}
