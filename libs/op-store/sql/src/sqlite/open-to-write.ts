import Database from 'better-sqlite3';
import type { Handle } from './open-file.ts';

/** Within one wait SQLite looks for the lock ever more seldom. Several short waits in a row are fairer to whoever waits long. */
export const BUSY_SLICE_MS = 20;
/**
 * Pages of the log, 16 MiB, after which they are moved to the main file. SQLite's own 1000 cost a push 5 % more: a page that is written
 * again and again is moved once. More gains nothing, and holds writes up for longer where every page is another.
 */
const LOG_PAGES = 4000;
/** The log shrinks to this after a time in which it grew. */
const LOG_BYTES_KEPT = 64 * 1024 * 1024;

/** Opens a file that is there and in the format of this build, for writes that are on disk when their COMMIT returns (RLY-6). */
export function openToWrite(file: string): Handle {
  const handle = new Database(file, { timeout: BUSY_SLICE_MS, fileMustExist: true });
  handle.pragma('synchronous = FULL');
  handle.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
  handle.pragma(`journal_size_limit = ${LOG_BYTES_KEPT}`);
  return handle;
}
