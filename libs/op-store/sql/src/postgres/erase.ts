import type { PostgresConnection } from '@tidemark/libs-driver-postgres';
import { streamLock } from './stream-lock.ts';
import { HEAD } from './streams.ts';

/** The head is written down in the transaction that removes the ops, so that later ops take the seqs after it (RLY-3, RLY-19). */
const ERASE = `
  WITH head AS (
    SELECT ${HEAD('$1')} AS seq
  ), gone AS (
    DELETE FROM stream_ops WHERE stream_id = $1 RETURNING 1
  ), counted AS (
    SELECT count(*) AS ops FROM gone
  ), remembered AS (
    INSERT INTO stream_erasures (stream_id, head, erased_at)
    SELECT $1, seq, $2 FROM head, counted WHERE ops > 0
    ON CONFLICT (stream_id) DO UPDATE SET head = excluded.head, erased_at = excluded.erased_at
  ), unlisted AS (
    DELETE FROM stream_changes WHERE stream_id = $1
  )
  SELECT ops FROM counted`;

/** A long stream takes its time. */
const ERASE_MS_MAX = 3_600_000;

export async function erase(connection: PostgresConnection, stream: string, nowSecs: bigint): Promise<bigint> {
  const statements = [streamLock(1, stream), { text: ERASE, values: [stream, nowSecs] }];
  const [, answer] = await connection.write<[bigint]>(statements, ERASE_MS_MAX);
  return answer?.[0]?.[0] as bigint;
}
