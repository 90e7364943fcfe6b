import type { PostgresConnection } from '@tidemark/libs-driver-postgres';
import type { ChangePage } from '@tidemark/libs-op-store-contract';
import { HEAD } from './streams.ts';

/**
 * A stream's row in stream_changes names the transaction that appended to it last, and a snapshot tells which transactions are over. So
 * a stream changed after a snapshot was taken exactly if that transaction is not visible in it: an append that began early and
 * commits late is not passed over, and no time constant is involved (R1, R5, R17).
 *
 * Transactions from xmax on do not exist yet: such a number was brought by a restored dump, and says nothing here.
 */
export const CHANGED = `
  SELECT pg_current_snapshot()::text, page.changed_in::text, page.stream_id, ${HEAD('page.stream_id COLLATE "default"')}
  FROM (
    SELECT changed_in, stream_id FROM stream_changes
    WHERE changed_in >= pg_snapshot_xmin($1::pg_snapshot) AND NOT pg_visible_in_snapshot(changed_in, $1::pg_snapshot)
      AND changed_in < pg_snapshot_xmax(pg_current_snapshot())
      AND (changed_in, stream_id) > ($2::xid8, $3 COLLATE "C")
    ORDER BY changed_in, stream_id LIMIT $4
  ) page
  ORDER BY page.changed_in, page.stream_id`;

/**
 * `since`: what is visible in this snapshot was told. A pass over what was not may take several pages: then `pass` is the snapshot of
 * its first page, where the next pass goes on, and the rest is the place in the pass.
 */
interface Position {
  readonly since: string;
  readonly pass: string | null;
  readonly changedIn: string;
  readonly stream: string;
}

export async function position(connection: PostgresConnection): Promise<string> {
  const [row] = await connection.read<[string]>({ text: 'SELECT pg_current_snapshot()::text', values: [] });
  return row?.[0] as string;
}

export async function changes(connection: PostgresConnection, from: string, limit: number): Promise<ChangePage> {
  const { since, pass, changedIn, stream } = parse(from);
  const rows = await connection.read<[now: string, changedIn: string, stream: string, head: bigint]>({
    text: CHANGED,
    values: [since, changedIn, stream, limit],
  });
  const [first, last] = [rows[0], rows.at(-1)];
  const changed = rows.map(([, , name, head]) => ({ stream: name, head }));
  const next = pass ?? first?.[0] ?? null;
  if (next === null || last === undefined) return { changed, position: next ?? from };
  return { changed, position: rows.length < limit ? next : [since, next, last[1], last[2]].join(' ') };
}

function parse(text: string): Position {
  const [since = '', pass, changedIn = '0', ...stream] = text.split(' ');
  return { since, pass: pass ?? null, changedIn, stream: stream.join(' ') };
}
