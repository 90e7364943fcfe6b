import Database from 'better-sqlite3';
import type { Handle } from './open-file.ts';

/** Within one wait SQLite looks for the lock ever more seldom. Several short waits in a row are fairer to whoever waits long. */
export const BUSY_SLICE_MS = 20;
/** The log shrinks to this after a time in which it grew. */
const LOG_BYTES_KEPT = 64 * 1024 * 1024;

/** Opens a file that is there and in the format of this build, for writes that are on disk when their COMMIT returns (RLY-6). */
export function openToWrite(file: string): Handle {
  const handle = new Database(file, { timeout: BUSY_SLICE_MS, fileMustExist: true });
  handle.pragma('synchronous = FULL');
  handle.pragma(`journal_size_limit = ${LOG_BYTES_KEPT}`);
  return handle;
}
