import type { PostgresConnection, Statement } from '@tidemark/libs-driver-postgres';
import type { AppendOutcome } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';
import { OP_COLUMN_NAMES, OP_COLUMNS } from './op-row.ts';
import { streamLock } from './stream-lock.ts';
import { HEAD } from './streams.ts';

/**
 * Answers the head as it was before, then the seqs of ops that were there already. Ops take their places by their order among the new
 * ones alone, so a repeat burns no seq (RLY-4, RLY-5).
 *
 * Each op is looked for by itself: a join is the planner's to choose, and where it knows little of a stream it reads all of it.
 */
const store = (value: (nth: number) => string): string => `
  WITH given AS (
    SELECT * FROM unnest(${OP_COLUMNS.map(({ type }, i) => `${value(i + 2)}::${type}[]`).join(', ')}) WITH ORDINALITY AS given (${OP_COLUMN_NAMES}, nth)
  ), known AS (
    SELECT nth, stored.seq FROM given CROSS JOIN LATERAL (
      SELECT seq FROM stream_ops WHERE stream_id = ${value(1)} AND op_id = given.op_id LIMIT 1
    ) stored
  ), head AS (
    SELECT ${HEAD(value(1))} AS seq
  ), stored AS (
    INSERT INTO stream_ops (stream_id, seq, ${OP_COLUMN_NAMES})
    SELECT ${value(1)}, head.seq + row_number() OVER (ORDER BY nth), ${OP_COLUMN_NAMES}
    FROM given, head WHERE nth NOT IN (SELECT nth FROM known)
  )
  SELECT 0::bigint, seq FROM head UNION ALL SELECT nth, seq FROM known`;

const STORE = store((nth) => `$${nth}`);

/**
 * For one op: answers its seq, or nothing when it is there already or no seq is left. Planned in half the time, which was half of such an
 * append; and a conflict is found by the index that it names, whatever the planner believes.
 */
const STORE_ONE = `
  INSERT INTO stream_ops (stream_id, seq, ${OP_COLUMN_NAMES})
  SELECT $1, head + 1, ${OP_COLUMNS.map(({ type }, i) => `$${i + 2}::${type}`).join(', ')}
  FROM (SELECT ${HEAD('$1')} AS head OFFSET 0) newest WHERE head < ${2n ** 63n - 1n}
  ON CONFLICT (stream_id, op_id) DO NOTHING RETURNING seq`;

/** What is larger may not leave this process at once; it is laid down in settings of the transaction before the lock is taken. */
const STAGED_UNITS_MIN = 8192;
const setting = (nth: number): string => `'tidemark.value_${nth}'`;
const STAGED = store((nth) => `current_setting(${setting(nth)})`);

/**
 * One transaction in one round trip: the server waits for the stream's lock, stores and commits without hearing from this process
 * again. The statement that stores begins after the lock is held, so under READ COMMITTED it sees whatever an earlier holder committed.
 *
 * Whoever stops in the middle of sending a statement is waited for without end. So the lock is asked for when all that is large has
 * arrived, and what is left to send between it and the COMMIT fits any socket (R46).
 */
export async function append(
  connection: PostgresConnection,
  stream: string,
  ops: readonly Op[],
): Promise<AppendOutcome[]> {
  const [first] = ops;
  const seq = ops.length === 1 && first !== undefined ? await appendOne(connection, stream, first) : null;
  return seq === null ? appendAll(connection, stream, ops) : [{ kind: 'stored', seq }];
}

/** null: nothing was written, and the other way tells why. */
async function appendOne(connection: PostgresConnection, stream: string, op: Op): Promise<bigint | null> {
  const storing = storeOneStatement(stream, op);
  if (isLarge(storing.values)) return null;
  const [, answer] = await connection.write<[bigint]>([streamLock(1, stream), storing]);
  return answer?.[0]?.[0] ?? null;
}

async function appendAll(connection: PostgresConnection, stream: string, ops: readonly Op[]): Promise<AppendOutcome[]> {
  const distinct = new Map(ops.map((op) => [op.opId, op]));
  // The first content of an op id stays.
  for (const op of ops.toReversed()) distinct.set(op.opId, op);
  const storing = storeStatement(stream, [...distinct.values()]);
  const { values } = storing;
  const lock = streamLock(1, stream);
  const answers = await connection.write<[nth: bigint, seq: bigint]>(
    isLarge(values) ? [stage(values), lock, { text: STAGED, values: [] }] : [lock, storing],
  );
  const answer = answers.at(-1);
  const [[, head], ...known] = answer as [[bigint, bigint], ...[bigint, bigint][]];
  return outcomes(ops, [...distinct.keys()], head, new Map(known));
}

function isLarge(values: readonly unknown[]): boolean {
  const units = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
  return units >= STAGED_UNITS_MIN;
}

/** For an op that is new, under the stream's lock. */
export function storeOneStatement(stream: string, op: Op): Statement {
  return { text: STORE_ONE, values: [stream, ...OP_COLUMNS.map(({ field }) => op[field])] };
}

/** For ops with ids of their own, under the stream's lock. */
export function storeStatement(
  stream: string,
  ops: readonly Op[],
): { readonly text: string; readonly values: string[] } {
  return { text: STORE, values: [stream, ...columnsOf(ops)] };
}

/** Sends the lengths back, not the values. */
function stage(values: readonly string[]): Statement {
  const set = values.map((_, i) => `octet_length(set_config(${setting(i + 1)}, $${i + 1}, true))`);
  return { text: `SELECT ${set.join(', ')}`, values };
}

function columnsOf(ops: readonly Op[]): string[] {
  return OP_COLUMNS.map(({ field, type }) => {
    const cells = ops.map((op) => op[field]);
    return type === 'text' ? textArray(cells as (string | null)[]) : `{${cells.join()}}`;
  });
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
