import { asFault, Fault, type FaultCode } from '@tidemark/libs-kernel';
import { CommitFailed } from './transaction.ts';

/** By primary result code; an extended one (SQLITE_BUSY_RECOVERY) belongs to its primary. */
const FAULTS: Readonly<Record<string, readonly [code: FaultCode, what: string]>> = {
  SQLITE_BUSY: ['unavailable', 'is held by a write of another process'],
  SQLITE_LOCKED: ['unavailable', 'is locked'],
  SQLITE_PROTOCOL: ['unavailable', 'is locked'],
  SQLITE_IOERR: ['unavailable', 'cannot be read or written'],
  SQLITE_NOMEM: ['unavailable', 'cannot be read or written: no memory is left'],
  SQLITE_FULL: ['disk_full', 'cannot grow: no space is left'],
  SQLITE_CORRUPT: ['corrupt', 'is damaged'],
  SQLITE_NOTADB: ['corrupt', 'is not a database'],
  SQLITE_CANTOPEN: ['misconfigured', 'cannot be opened'],
  SQLITE_READONLY: ['misconfigured', 'cannot be written'],
  SQLITE_PERM: ['misconfigured', 'may not be opened'],
  SQLITE_AUTH: ['misconfigured', 'may not be opened'],
  SQLITE_TOOBIG: ['too_large', 'takes no text of this size'],
  // The folder of the file could not be made.
  EACCES: ['misconfigured', 'lies in a folder that may not be written'],
  EPERM: ['misconfigured', 'lies in a folder that may not be written'],
  EROFS: ['misconfigured', 'lies in a folder that cannot be written'],
  ENOTDIR: ['misconfigured', 'lies below something that is no folder'],
  EEXIST: ['misconfigured', 'lies below something that is no folder'],
  ENOSPC: ['disk_full', 'lies in a folder that cannot be made: no space is left'],
};

/**
 * What SQLite or the file system threw, as a Fault that names the file. A failed transaction was rolled back, so nothing is done; only a
 * disk error of COMMIT itself leaves that open (CommitFailed says why). A COMMIT that finds the disk full is certain: the frame that
 * would make the transaction valid is the last one written, and it was not written whole.
 */
export function mapError(thrown: unknown, file: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const inCommit = thrown instanceof CommitFailed;
  const cause = inCommit ? thrown.cause : thrown;
  const primary = primaryCode(cause);
  const known = FAULTS[primary];
  if (known === undefined) return asFault(cause);
  const [code, what] = known;
  const message = `${file} ${what} (${codeOf(cause)})`;
  if (inCommit && primary === 'SQLITE_IOERR') {
    return new Fault('unknown_outcome', `${message} at the end of a write, which may be stored`, { cause });
  }
  return new Fault(code, message, { cause });
}

/** Another process holds the lock: nothing was done, and it can be tried again. */
export function isBusy(thrown: unknown): boolean {
  return primaryCode(thrown instanceof CommitFailed ? thrown.cause : thrown) === 'SQLITE_BUSY';
}

function primaryCode(thrown: unknown): string {
  return /^(SQLITE_[A-Z]+|E[A-Z]+)/.exec(codeOf(thrown))?.[0] ?? '';
}

function codeOf(thrown: unknown): string {
  const code = (thrown as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
