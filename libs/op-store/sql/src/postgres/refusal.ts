import { Fault } from '@tidemark/libs-kernel';
import type { Op } from '@tidemark/libs-wire';
import { OP_COLUMNS } from './op-row.ts';

/** An index entry holds at most 2704 bytes, and that of an op holds its stream's id too: together the longest of both fit. */
export const OP_ID_BYTES_MAX = 2000;
export const STREAM_ID_BYTES_MAX = 650;

/** Postgres text holds any character but U+0000. An escaped one inside `extra` is no character but an escape, and stays. */
export function refusalOf(op: Op): Fault | null {
  for (const { field, name } of OP_COLUMNS) {
    const cell = op[field];
    if (typeof cell === 'string' && cell.includes('\0'))
      return refused('invalid', op, `its ${name} holds U+0000, which Postgres cannot store`);
  }
  if (isLonger(op.opId, OP_ID_BYTES_MAX)) {
    return refused('too_large', op, `its op_id is longer than ${OP_ID_BYTES_MAX} bytes`);
  }
  return null;
}

/**
 * Fault `malformed` when the stream's id cannot be stored, which no op is to blame for and no smaller push would mend; `invalid` when
 * another text of a write cannot.
 */
export function assertStorable(stream: string, others: Readonly<Record<string, string>> = {}): void {
  if (!isStorable(stream)) throw new Fault('malformed', holdsNull('the stream id', stream));
  if (isLonger(stream, STREAM_ID_BYTES_MAX))
    throw new Fault('malformed', `the stream id ${shown(stream)} is longer than ${STREAM_ID_BYTES_MAX} bytes`);
  for (const [name, text] of Object.entries(others))
    if (!isStorable(text)) throw new Fault('invalid', holdsNull(name, text));
}

function holdsNull(name: string, text: string): string {
  return `${name} ${shown(text)} holds U+0000, which Postgres cannot store`;
}

export function isStorable(id: string): boolean {
  return !id.includes('\0');
}

const SHOWN_UNITS_MAX = 100;

function refused(code: 'invalid' | 'too_large', { opId }: Op, why: string): Fault {
  return new Fault(code, `op ${shown(opId)}: ${why}`);
}

function shown(id: string): string {
  return JSON.stringify(id.length > SHOWN_UNITS_MAX ? `${id.slice(0, SHOWN_UNITS_MAX)}…` : id);
}

/** No text has more bytes than three for each UTF-16 unit, so the bytes of few are counted. */
function isLonger(id: string, bytesMax: number): boolean {
  return id.length * 3 > bytesMax && Buffer.byteLength(id) > bytesMax;
}
