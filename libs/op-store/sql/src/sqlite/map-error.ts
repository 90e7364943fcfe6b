import { asFault, Fault, type FaultCode, type Outcome } from '@tidemark/libs-kernel';
import { isTold } from '../told.ts';
import { CommitFailed } from './transaction.ts';

/** By result code; an extended one (SQLITE_BUSY_RECOVERY) that is not named belongs to its primary. */
const FAULTS: Readonly<Record<string, readonly [code: FaultCode, what: string]>> = {
  SQLITE_BUSY: ['unavailable', 'is held by a write of another process'],
  SQLITE_LOCKED: ['unavailable', 'is locked'],
  SQLITE_PROTOCOL: ['unavailable', 'is locked'],
  SQLITE_IOERR: ['unavailable', 'cannot be read or written'],
  // The index of the log lies in a file too, which could not grow.
  SQLITE_IOERR_SHMSIZE: ['disk_full', 'cannot grow: no space is left'],
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
 * What SQLite or the file system threw, as a Fault that names the file. A failed transaction was rolled back, so nothing is done, unless
 * it is in doubt.
 */
export function mapError(thrown: unknown, file: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const cause = causeOf(thrown);
  const known = FAULTS[codeOf(cause)] ?? FAULTS[primaryCode(cause)];
  if (known === undefined && !isInDoubt(thrown)) return asFault(cause);
  const [code, what] = known ?? ['internal', 'cannot be written'];
  const message = `${file} ${what} (${codeOf(cause)})`;
  if (!isInDoubt(thrown)) return new Fault(code, isTold(code) ? `SQLite ${what}` : message, { cause });
  return new Fault('unknown_outcome', `${message} at the end of a write, which may be stored`, { cause });
}

/**
 * The transaction may be whole in the log without being known to be on disk: a recovery after a crash would bring it back. A COMMIT that
 * finds the disk full is certain: the frame that would make the transaction valid is the last one written, and it was not written whole.
 */
export function isInDoubt(thrown: unknown): boolean {
  return thrown instanceof CommitFailed && !['SQLITE_BUSY', 'SQLITE_FULL'].includes(primaryCode(thrown.cause));
}

/** The disk failed, rather than having no space. */
export function isDiskError(thrown: unknown): boolean {
  const cause = causeOf(thrown);
  return primaryCode(cause) === 'SQLITE_IOERR' && codeOf(cause) !== 'SQLITE_IOERR_SHMSIZE';
}

/** Another process holds the lock: nothing was done, and it can be tried again. */
export function isBusy(thrown: unknown): boolean {
  return primaryCode(causeOf(thrown)) === 'SQLITE_BUSY';
}

/** A fault as plain data, so that it can be sent from thread to thread. */
export interface FaultData {
  readonly code: FaultCode;
  readonly message: string;
  readonly outcome: Outcome;
}

export function toData({ code, message, outcome }: Fault): FaultData {
  return { code, message, outcome };
}

export function toFault({ code, message, outcome }: FaultData): Fault {
  return new Fault(code, message, { outcome });
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof CommitFailed ? thrown.cause : thrown;
}

function primaryCode(thrown: unknown): string {
  return /^(SQLITE_[A-Z]+|E[A-Z]+)/.exec(codeOf(thrown))?.[0] ?? '';
}

function codeOf(thrown: unknown): string {
  const code = (thrown as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
