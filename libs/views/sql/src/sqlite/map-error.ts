import { Fault, type FaultCode, asFault } from '@tidemark/libs-kernel';

/** By primary result code; an extended code (SQLITE_BUSY_SNAPSHOT) belongs to its primary one. */
const FAULTS: readonly (readonly [primary: string, code: FaultCode, what: string])[] = [
  ['SQLITE_BUSY', 'unavailable', 'is busy with the write of another process'],
  ['SQLITE_LOCKED', 'unavailable', 'is locked'],
  ['SQLITE_IOERR', 'unavailable', 'cannot be read or written'],
  ['SQLITE_FULL', 'disk_full', 'cannot grow: no space is left'],
  ['SQLITE_CORRUPT', 'corrupt', 'is damaged'],
  ['SQLITE_NOTADB', 'corrupt', 'is not a database'],
  ['SQLITE_CANTOPEN', 'misconfigured', 'cannot be opened'],
  ['SQLITE_READONLY', 'misconfigured', 'cannot be written'],
  ['SQLITE_PERM', 'misconfigured', 'may not be opened'],
  ['SQLITE_TOOBIG', 'too_large', 'takes no text of this size'],
  // The folder of the file could not be made.
  ['EACCES', 'misconfigured', 'lies in a folder that cannot be made'],
  ['EPERM', 'misconfigured', 'lies in a folder that cannot be made'],
  ['EROFS', 'misconfigured', 'lies in a folder that cannot be made'],
  ['ENOTDIR', 'misconfigured', 'lies in a folder that cannot be made'],
  ['EEXIST', 'misconfigured', 'lies in a folder that cannot be made'],
  ['ENOSPC', 'disk_full', 'lies in a folder that cannot be made: no space is left'],
];

/** What SQLite or the file system threw, as a Fault that names the file. A failed transaction was rolled back; only after a disk error is that not certain. */
export function mapError(thrown: unknown, file: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const code = codeOf(thrown);
  const known = FAULTS.find(([primary]) => code === primary || code.startsWith(`${primary}_`));
  if (!known) return asFault(thrown);
  const [, fault, what] = known;
  const outcome = code.startsWith('SQLITE_IOERR') ? 'unknown' : 'not-done';
  return new Fault(fault, `${file} ${what} (${code})`, { outcome, cause: thrown });
}

function codeOf(thrown: unknown): string {
  const code = (thrown as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
