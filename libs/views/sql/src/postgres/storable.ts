import { Fault } from '@tidemark/libs-kernel';
import { type ViewChange, assertStream, assertWellFormed, changeFault } from '@tidemark/libs-views-contract';

/** An index entry holds at most 2704 bytes, and that of a cell holds all its names. */
export const NAMES_BYTES_MAX = 2600;
export const STREAM_BYTES_MAX = 1000;

/** Postgres text holds any character but U+0000. An escaped one inside a JSON text is an escape, and stays. */
export function isStorable(...names: readonly string[]): boolean {
  return names.every((name) => name.isWellFormed() && !name.includes('\0'));
}

/** Fault `invalid` when the stream cannot be stored as it is. */
export function assertStorableStream(stream: string): void {
  assertStream(stream);
  const refused = (why: string) => new Fault('invalid', `stream ${JSON.stringify(stream.slice(0, 100))}: ${why}`);
  if (stream.includes('\0')) throw refused('Postgres cannot store U+0000');
  if (Buffer.byteLength(stream) > STREAM_BYTES_MAX) throw refused(`it is longer than ${STREAM_BYTES_MAX} bytes`);
}

/** Fault `invalid` or `too_large` of the first change that can never be stored, before any of the call is. */
export function assertStorable(stream: string, changes: readonly ViewChange[]): void {
  assertWellFormed(stream, changes);
  assertStorableStream(stream);
  const streamBytes = Buffer.byteLength(stream);
  for (const change of changes) {
    const { kind, id, field, member } = change;
    const isText = isStorable(kind, id, field, member) && (change.effect === 'remove' || !change.value.includes('\0'));
    if (!isText) throw changeFault('invalid', change, 'Postgres cannot store U+0000');
    const bytes = [kind, id, field, member].reduce((sum, name) => sum + Buffer.byteLength(name), streamBytes);
    if (bytes > NAMES_BYTES_MAX)
      throw changeFault('too_large', change, `its names and its stream's take more than ${NAMES_BYTES_MAX} bytes`);
  }
}
