/** `SQLITE_BUSY`, `SQLITE_IOERR_WRITE`, ...; empty for anything that SQLite did not throw. */
export function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : '';
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : '';
}
