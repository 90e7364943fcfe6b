import { Fault } from '@tidemark/libs-kernel';
import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';

export const OP_COLUMNS =
  'envelope_version, op_id, lamport, site, domain, target_kind, target_id, field, op_type, value, author, wall_clock, extra';

type Cell = bigint | number | string | null;

/** The op's cells in the order of OP_COLUMNS. */
export function toCells(op: Op): Cell[] {
  return [
    op.envelopeVersion,
    op.opId,
    op.lamport,
    op.site,
    op.domain,
    op.targetKind,
    op.targetId,
    op.field,
    op.opType,
    op.value,
    op.author,
    op.wallClock,
    op.extra,
  ];
}

/** A row of seq and OP_COLUMNS, as SQLite typed its cells. */
export type OpRow = readonly [seq: bigint, ...cells: unknown[]];

/** Fault `corrupt`, naming stream, seq and column, when a cell is not of the column's type: SQLite stores any type anywhere. */
export function toSequencedOp(stream: string, row: OpRow): SequencedOp {
  for (let i = 1; i < row.length; i++) {
    const type = typeof row[i];
    if (type === (INTEGERS[i] ? 'bigint' : 'string') || (i === VALUE && row[i] === null)) continue;
    throw corrupt(stream, row[0], `${NAMES[i]} is of the wrong type`);
  }
  const [seq, version, opId, lamport, site, domain, kind, id, field, opType, value, author, wallClock, extra] =
    row as unknown as Row;
  if (extra !== '{}' && !isObjectText(extra)) throw corrupt(stream, seq, 'extra is no JSON object');
  return {
    seq,
    op: {
      envelopeVersion: Number(version),
      opId,
      lamport,
      site,
      domain,
      targetKind: kind,
      targetId: id,
      field,
      opType,
      value,
      author,
      wallClock,
      extra,
    },
  };
}

type Row = [
  seq: bigint,
  version: bigint,
  opId: string,
  lamport: bigint,
  site: bigint,
  domain: string,
  kind: string,
  id: string,
  field: string,
  opType: string,
  value: string | null,
  author: string,
  wallClock: string,
  extra: string,
];

const NAMES = ['seq', ...OP_COLUMNS.split(', ')];
const INTEGERS = NAMES.map((name) => ['seq', 'envelope_version', 'lamport', 'site'].includes(name));
const VALUE = NAMES.indexOf('value');

function isObjectText(text: string): boolean {
  // A text that begins like an object and is JSON is one.
  if (!text.trimStart().startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function corrupt(stream: string, seq: bigint, what: string): Fault {
  return new Fault('corrupt', `stream ${JSON.stringify(stream)}, seq ${seq}: the stored ${what}`);
}
