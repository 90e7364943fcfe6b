import type { AppendOutcome } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';
import { type PostgresConnection, type Statement, streamLock } from './connection.ts';
import { OP_COLUMN_NAMES, OP_COLUMNS } from './op-row.ts';
import { HEAD } from './streams.ts';

const GIVEN = OP_COLUMNS.map(({ type }, i) => `$${i + 2}::${type}[]`).join(', ');

/**
 * Answers the head as it was before, then the seqs of ops that were there already. Ops take their places by their order among the new
 * ones alone, so a repeat burns no seq (RLY-4, RLY-5).
 */
const STORE = `
  WITH given AS (
    SELECT * FROM unnest(${GIVEN}) WITH ORDINALITY AS given (${OP_COLUMN_NAMES}, nth)
  ), known AS (
    SELECT given.nth, stored.seq FROM given JOIN stream_ops stored ON stored.stream_id = $1 AND stored.op_id = given.op_id
  ), head AS (
    SELECT ${HEAD('$1')} AS seq
  ), stored AS (
    INSERT INTO stream_ops (stream_id, seq, ${OP_COLUMN_NAMES})
    SELECT $1, head.seq + row_number() OVER (ORDER BY nth), ${OP_COLUMN_NAMES}
    FROM given, head WHERE nth NOT IN (SELECT nth FROM known)
  )
  SELECT 0::bigint, seq FROM head UNION ALL SELECT nth, seq FROM known`;

/**
 * One transaction in one round trip: the server waits for the stream's lock, stores and commits without hearing from this process
 * again. The statement that stores begins after the lock is held, so under READ COMMITTED it sees whatever an earlier holder committed.
 */
export async function append(
  connection: PostgresConnection,
  stream: string,
  ops: readonly Op[],
): Promise<AppendOutcome[]> {
  const distinct = new Map(ops.map((op) => [op.opId, op]));
  // The first content of an op id stays.
  for (const op of ops.toReversed()) distinct.set(op.opId, op);
  const [, answer] = await connection.write<[nth: bigint, seq: bigint]>([
    streamLock(1, stream),
    store(stream, [...distinct.values()]),
  ]);
  const [[, head], ...known] = answer as [[bigint, bigint], ...[bigint, bigint][]];
  return outcomes(ops, [...distinct.keys()], head, new Map(known));
}

function store(stream: string, ops: readonly Op[]): Statement {
  const columns = OP_COLUMNS.map(({ field, type }) => {
    const cells = ops.map((op) => op[field]);
    return type === 'text' ? textArray(cells as (string | null)[]) : `{${cells.join()}}`;
  });
  return { text: STORE, values: [stream, ...columns] };
}

/** As the server reads an array. The driver's own way escapes every cell, needed or not, and took a tenth of an append's time here. */
function textArray(cells: readonly (string | null)[]): string {
  const written = cells.map((cell) => {
    if (cell === null) return 'NULL';
    return /["\\]/.test(cell) ? `"${cell.replace(/["\\]/g, '\\$&')}"` : `"${cell}"`;
  });
  return `{${written.join()}}`;
}

function outcomes(
  ops: readonly Op[],
  ids: readonly string[],
  head: bigint,
  known: ReadonlyMap<bigint, bigint>,
): AppendOutcome[] {
  let next = head + 1n;
  const told = new Map<string, AppendOutcome>();
  ids.forEach((id, i) => {
    const seq = known.get(BigInt(i + 1));
    told.set(id, seq === undefined ? { kind: 'stored', seq: next++ } : { kind: 'existing', seq });
  });
  return ops.map(({ opId }) => {
    const outcome = told.get(opId) as AppendOutcome;
    // Whatever an op id met first, a second one in the same call meets the op stored.
    told.set(opId, { kind: 'existing', seq: outcome.seq });
    return outcome;
  });
}
