import { Table, type TableColumnOptions } from 'typeorm';

/** A database's name for signed 64-bit integers. */
export type Int64Type = 'integer' | 'bigint';

/**
 * The tables, the same on every SQL database and, but for the last, the same that other relays of this protocol use. No further index and no CHECK: what an
 * op holds is opaque here.
 */
export function opStoreTables(int64: Int64Type): readonly Table[] {
  const integer = (name: string): TableColumnOptions => ({ name, type: int64 });
  return [
    new Table({
      name: 'stream_ops',
      columns: [
        key('stream_id', 'text'),
        key('seq', int64),
        { name: 'envelope_version', type: 'integer' },
        text('op_id'),
        integer('lamport'),
        integer('site'),
        { ...text('domain'), default: "'task'" },
        text('target_kind'),
        text('target_id'),
        text('field'),
        text('op_type'),
        { ...text('value'), isNullable: true },
        text('author'),
        text('wall_clock'),
        { ...text('extra'), default: "'{}'" },
      ],
      uniques: [{ name: 'stream_ops_op_id', columnNames: ['stream_id', 'op_id'] }],
    }),
    new Table({
      name: 'prefix_claims',
      columns: [key('stream_id', 'text'), key('prefix', 'text'), text('replica_uuid')],
      uniques: [{ name: 'prefix_claims_replica', columnNames: ['stream_id', 'replica_uuid'] }],
    }),
    new Table({
      name: 'machine_presence',
      columns: [
        key('stream_id', 'text'),
        key('machine_id', 'text'),
        text('name'),
        integer('last_seen'),
        integer('interval_secs'),
      ],
      indices: [{ name: 'machine_presence_recency', columnNames: ['stream_id', 'last_seen'] }],
    }),
    // Of our own: where the seqs of an erased stream go on.
    new Table({
      name: 'stream_erasures',
      columns: [key('stream_id', 'text'), integer('head'), integer('erased_at')],
    }),
  ];
}

function text(name: string): TableColumnOptions {
  return { name, type: 'text' };
}

function key(name: string, type: string): TableColumnOptions {
  return { name, type, isPrimary: true };
}
