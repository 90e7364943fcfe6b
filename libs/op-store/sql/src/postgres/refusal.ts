import { Fault } from '@tidemark/libs-kernel';
import type { Op } from '@tidemark/libs-wire';
import { OP_COLUMNS } from './op-row.ts';

/** An index entry holds at most 2704 bytes, and that of an op holds its stream's id too. */
export const OP_ID_BYTES_MAX = 2000;

/** Postgres text holds any character but U+0000. An escaped one inside `extra` is no character but an escape, and stays. */
export function refusalOf(op: Op): Fault | null {
  for (const { field, name } of OP_COLUMNS) {
    const cell = op[field];
    if (typeof cell === 'string' && cell.includes('\0'))
      return refused('invalid', op, `its ${name} holds U+0000, which Postgres cannot store`);
  }
  // No text has more bytes than three for each UTF-16 unit, so the bytes of few are counted.
  if (op.opId.length * 3 > OP_ID_BYTES_MAX && Buffer.byteLength(op.opId) > OP_ID_BYTES_MAX) {
    return refused('too_large', op, `its op_id is longer than ${OP_ID_BYTES_MAX} bytes`);
  }
  return null;
}

/** Fault `invalid` when an id given for a write cannot be stored as it is. */
export function assertStorable(ids: Readonly<Record<string, string>>): void {
  for (const [name, id] of Object.entries(ids)) {
    if (!isStorable(id))
      throw new Fault('invalid', `${name} ${JSON.stringify(id)} holds U+0000, which Postgres cannot store`);
  }
}

export function isStorable(id: string): boolean {
  return !id.includes('\0');
}

const SHOWN_UNITS_MAX = 100;

function refused(code: 'invalid' | 'too_large', { opId }: Op, why: string): Fault {
  const shown = opId.length > SHOWN_UNITS_MAX ? `${opId.slice(0, SHOWN_UNITS_MAX)}…` : opId;
  return new Fault(code, `op ${JSON.stringify(shown)}: ${why}`);
}
