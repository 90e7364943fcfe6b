import { Fault } from '@tidemark/libs-kernel';
import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';
import { isObjectText } from '../stored-extra.ts';

interface OpColumn {
  readonly name: string;
  readonly type: 'integer' | 'bigint' | 'text';
  readonly field: keyof Op;
}

/** The columns of stream_ops behind stream_id and seq, with the field of an op that each holds. */
export const OP_COLUMNS: readonly OpColumn[] = [
  { name: 'envelope_version', type: 'integer', field: 'envelopeVersion' },
  { name: 'op_id', type: 'text', field: 'opId' },
  { name: 'lamport', type: 'bigint', field: 'lamport' },
  { name: 'site', type: 'bigint', field: 'site' },
  { name: 'domain', type: 'text', field: 'domain' },
  { name: 'target_kind', type: 'text', field: 'targetKind' },
  { name: 'target_id', type: 'text', field: 'targetId' },
  { name: 'field', type: 'text', field: 'field' },
  { name: 'op_type', type: 'text', field: 'opType' },
  { name: 'value', type: 'text', field: 'value' },
  { name: 'author', type: 'text', field: 'author' },
  { name: 'wall_clock', type: 'text', field: 'wallClock' },
  { name: 'extra', type: 'text', field: 'extra' },
];

export const OP_COLUMN_NAMES = OP_COLUMNS.map(({ name }) => name).join(', ');

/** A row of seq and OP_COLUMN_NAMES. The server holds the cells to their types. */
export type OpRow = [
  seq: bigint,
  envelopeVersion: number,
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

/** Fault `corrupt`, naming stream and seq, when the stored extra is no JSON object. */
export function toSequencedOp(stream: string, row: OpRow): SequencedOp {
  const [seq, envelopeVersion, opId, lamport, site, domain, targetKind, targetId, field, opType, value, author] = row;
  const [wallClock, extra] = [row[12], row[13]];
  if (extra !== '{}' && !isObjectText(extra)) {
    throw new Fault('corrupt', `stream ${JSON.stringify(stream)}, seq ${seq}: the stored extra is no JSON object`);
  }
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
