import type { Handle } from './open-file.ts';

/** Runs synchronous work between BEGIN IMMEDIATE and COMMIT; rolls back when it throws. */
export type Transaction = <T>(work: () => T) => T;

/**
 * COMMIT itself failed. When that was a disk error, the transaction may be whole in the write-ahead log without being known to be on
 * disk: a recovery after a crash would bring it back.
 */
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
      // A full disk or a disk error has rolled back by itself.
      if (handle.inTransaction) rollback.run();
      throw thrown;
    }
  };
}

function runCommit(commit: { run(): unknown }): void {
  try {
    commit.run();
  } catch (thrown) {
    throw new CommitFailed(thrown);
  }
}
