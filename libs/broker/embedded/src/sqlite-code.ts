/** `SQLITE_BUSY`, `SQLITE_IOERR_WRITE`, ...; empty for anything that SQLite did not throw. Told by its shape, not by its class. */
export function codeOf(thrown: unknown): string {
  const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : '';
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : '';
}

export function messageOf(thrown: unknown): string {
  const message = typeof thrown === 'object' && thrown !== null && 'message' in thrown ? thrown.message : thrown;
  return String(message);
}
