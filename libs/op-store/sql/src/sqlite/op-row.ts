import { Fault } from '@tidemark/libs-kernel';
import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';
import { isObjectText } from '../stored-extra.ts';
import type { Cell } from './command.ts';

export const OP_COLUMNS =
  'envelope_version, op_id, lamport, site, domain, target_kind, target_id, field, op_type, value, author, wall_clock, extra';

export const OP_CELLS = 13;

/** Adds the op's cells, in the order of OP_COLUMNS. */
export function pushCells(op: Op, cells: Cell[]): void {
  cells.push(op.envelopeVersion, op.opId, op.lamport, op.site, op.domain, op.targetKind, op.targetId, op.field);
  cells.push(op.opType, op.value, op.author, op.wallClock, op.extra);
}

/** UTF-16 units of all the op's text. */
export function textUnits(op: Op): number {
  return (
    op.opId.length +
    op.domain.length +
    op.targetKind.length +
    op.targetId.length +
    op.field.length +
    op.opType.length +
    (op.value?.length ?? 0) +
    op.author.length +
    op.wallClock.length +
    op.extra.length
  );
}

/** A row of seq and OP_COLUMNS, as the schema types its cells; SQLite itself stores any type anywhere. */
export type OpRow = [
  seq: bigint,
  envelopeVersion: bigint,
  opId: string,
  lamport: bigint,
  site: bigint,
  domain: string,
  targetKind: string,
  targetId: string,
  field: string,
  opType: string,
  value: string | null,
  author: string,
  wallClock: string,
  extra: string,
];

/** Fault `corrupt`, naming stream, seq and column, when a cell cannot be what the op holds there. */
export function toSequencedOp(stream: string, row: OpRow): SequencedOp {
  const [
    seq,
    version,
    opId,
    lamport,
    site,
    domain,
    targetKind,
    targetId,
    field,
    opType,
    value,
    author,
    wallClock,
    extra,
  ] = row;
  const wellTyped =
    typeof version === 'bigint' &&
    typeof opId === 'string' &&
    typeof lamport === 'bigint' &&
    typeof site === 'bigint' &&
    typeof domain === 'string' &&
    typeof targetKind === 'string' &&
    typeof targetId === 'string' &&
    typeof field === 'string' &&
    typeof opType === 'string' &&
    (value === null || typeof value === 'string') &&
    typeof author === 'string' &&
    typeof wallClock === 'string' &&
    typeof extra === 'string';
  if (!wellTyped) throw corrupt(stream, row, 'is of the wrong type');
  if (extra !== '{}' && !isObjectText(extra)) throw corrupt(stream, row, 'is no JSON object');
  const envelopeVersion = Number(version);
  return {
    seq,
    op: {
      envelopeVersion,
      opId,
      lamport,
      site,
      domain,
      targetKind,
      targetId,
      field,
      opType,
      value,
      author,
      wallClock,
      extra,
    },
  };
}

/** Names the first column of a wrong type, or else the last one, `extra`. */
function corrupt(stream: string, [seq, ...cells]: OpRow, what: string): Fault {
  const wrong = cells.findIndex((cell, i) => {
    const type = INTEGER_COLUMNS.includes(COLUMNS[i] as string) ? 'bigint' : 'string';
    return typeof cell !== type && !(cell === null && COLUMNS[i] === 'value');
  });
  return new Fault('corrupt', `stream ${JSON.stringify(stream)}, seq ${seq}: the stored ${COLUMNS.at(wrong)} ${what}`);
}

const COLUMNS = OP_COLUMNS.split(', ');
const INTEGER_COLUMNS = ['envelope_version', 'lamport', 'site'];
