import type { PostgresConnection } from '@tidemark/libs-driver-postgres';
import type { ReadPage, SeenOp } from '@tidemark/libs-op-store-contract';
import { opTextBytes } from '@tidemark/libs-wire';
import { seen } from '../seen.ts';
import { OP_COLUMN_NAMES, OP_COLUMNS, type OpRow, toSequencedOp } from './op-row.ts';

const TEXT_BYTES = OP_COLUMNS.filter(({ type }) => type === 'text')
  .map(({ name }) => `coalesce(octet_length(${name}), 0)`)
  .join(' + ');

/** What opTextBytes counts for anything but text. */
const FRAME_BYTES = opTextBytes({
  envelopeVersion: 1,
  opId: '',
  lamport: 0n,
  site: 0n,
  domain: '',
  targetKind: '',
  targetId: '',
  field: '',
  opType: '',
  value: null,
  author: '',
  wallClock: '',
  extra: '',
});

/**
 * Ends the page before the op that would pass the bound, but not before the first. The length of a large text is known without reading
 * it, so what lies behind the end is neither read nor sent.
 */
export const ABOVE = `
  SELECT seq, ${OP_COLUMN_NAMES} FROM (
    SELECT *, sum(bytes) OVER (ORDER BY seq) AS upto FROM (
      SELECT seq, ${OP_COLUMN_NAMES}, (${FRAME_BYTES} + ${TEXT_BYTES})::bigint AS bytes FROM stream_ops
      WHERE stream_id = $1 AND seq > $2 ORDER BY seq LIMIT $3
    ) ops
  ) summed
  WHERE upto <= $4 OR upto = bytes ORDER BY seq`;

/** One statement, so one snapshot (R4): a seq below its last one that it does not show was never there. */
export async function read(connection: PostgresConnection, ...asked: Asked): Promise<ReadPage> {
  const [stream, after] = asked;
  const ops = (await rowsAbove(connection, asked)).map((row) => toSequencedOp(stream, row));
  return { ops, next: ops.at(-1)?.seq ?? after };
}

export async function readAhead(connection: PostgresConnection, ...asked: Asked): Promise<SeenOp[]> {
  return (await rowsAbove(connection, asked)).map((row) => seen(row[0], () => toSequencedOp(asked[0], row)));
}

type Asked = [stream: string, after: bigint, limit: number, bytesMax: number];

function rowsAbove(connection: PostgresConnection, [stream, after, limit, bytesMax]: Asked): Promise<OpRow[]> {
  const values = [stream, after > 0n ? after : 0n, Math.max(limit, 0), bytesMax];
  return connection.read<OpRow>({ text: ABOVE, values });
}
