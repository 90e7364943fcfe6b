import type { Database } from 'better-sqlite3';
import { codeOf, messageOf } from './sqlite-code.ts';

/** A write transaction that did not end well. */
export class WriteFailure extends Error {
  override readonly name = 'WriteFailure';
  /** True: certainly not stored. False: it may be, also after the next start of a process finds it in the log. */
  readonly nothingStored: boolean;
  /** Somebody else was writing; nothing was begun. */
  readonly busy: boolean;

  constructor(cause: unknown, facts: { readonly nothingStored: boolean; readonly busy?: boolean }) {
    super(messageOf(cause), { cause });
    this.nothingStored = facts.nothingStored;
    this.busy = facts.busy ?? false;
  }
}

/** Runs `work` in one write transaction, alone among all processes. Throws a WriteFailure, which knows what became of it. */
export function transact<T>(db: Database, work: () => T): T {
  if (db.inTransaction && !rollBack(db)) throw new WriteFailure('an earlier rollback failed', { nothingStored: true });
  begin(db);
  let result: T;
  try {
    result = work();
  } catch (thrown) {
    throw new WriteFailure(thrown, { nothingStored: rollBack(db) });
  }
  commit(db);
  return result;
}

function begin(db: Database): void {
  try {
    db.exec('BEGIN IMMEDIATE');
  } catch (thrown) {
    throw new WriteFailure(thrown, { nothingStored: true, busy: codeOf(thrown).startsWith('SQLITE_BUSY') });
  }
}

/**
 * A full disk stops the log before the frame that makes the transaction count, so nothing is stored. Any other failure may come after
 * that frame (a failed fsync): then a recovery would find the transaction, whatever the rollback says now.
 */
function commit(db: Database): void {
  try {
    db.exec('COMMIT');
  } catch (thrown) {
    const rolledBack = rollBack(db);
    throw new WriteFailure(thrown, { nothingStored: rolledBack && codeOf(thrown) === 'SQLITE_FULL' });
  }
}

function rollBack(db: Database): boolean {
  try {
    // Some failures have rolled back already.
    if (db.inTransaction) db.exec('ROLLBACK');
  } catch {
    return false;
  }
  return !db.inTransaction;
}
