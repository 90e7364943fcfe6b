import type { Handle } from './open-file.ts';

/** Runs synchronous work between BEGIN IMMEDIATE and COMMIT; rolls back when it throws. */
export type Transaction = <T>(work: () => T) => T;

/** The transaction did not end: COMMIT failed, or the ROLLBACK after another failure, which is the cause then. */
export class CommitFailed extends Error {
  constructor(cause: unknown) {
    super('COMMIT failed', { cause });
  }
}

export function prepareTransaction(handle: Handle): Transaction {
  const begin = handle.prepare('BEGIN IMMEDIATE');
  const commit = handle.prepare('COMMIT');
  const rollback = handle.prepare('ROLLBACK');
  return (work) => {
    begin.run();
    try {
      const result = work();
      runCommit(commit);
      return result;
    } catch (thrown) {
      rollBack(handle, rollback, thrown);
      throw thrown;
    }
  };
}

function rollBack(handle: Handle, rollback: { run(): unknown }, thrown: unknown): void {
  try {
    // A full disk or a disk error has rolled back by itself.
    if (handle.inTransaction) rollback.run();
  } catch {
    throw thrown instanceof CommitFailed ? thrown : new CommitFailed(thrown);
  }
}

function runCommit(commit: { run(): unknown }): void {
  try {
    commit.run();
  } catch (thrown) {
    throw new CommitFailed(thrown);
  }
}
