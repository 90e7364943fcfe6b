import type { PostgresConnection, Statement } from '@tidemark/libs-driver-postgres';
import { type ViewChange, strongest } from '@tidemark/libs-views-contract';
import { assertStorable } from './storable.ts';

const CELLS = 'stream, epoch, kind, id, field, member, shape, rank, lamport, site, seq, value, indexed';

const upsert = (effect: string, when: string) => `
  INSERT INTO view_cells AS cells (${CELLS})
  SELECT $1, $2, given.kind, id, given.field, member, shape, rank, lamport, site, seq, value,
    CASE WHEN listed.kind IS NOT NULL THEN view_indexed(value) END
  FROM given LEFT JOIN view_indexes AS listed ON listed.kind = given.kind AND listed.field = given.field
  WHERE effect = '${effect}' ORDER BY given.kind, id, given.field, member
  ON CONFLICT (stream, epoch, kind, id, field, member) DO UPDATE
  SET rank = excluded.rank, lamport = excluded.lamport, site = excluded.site, seq = excluded.seq,
    value = excluded.value, indexed = excluded.indexed
  WHERE ${when}`;

const version = (of: string, sign = '') => `(${of}.rank, ${of}.lamport, ${of}.site, ${sign}${of}.seq)`;

/** One statement, so all of a call is stored or nothing. Row values compare column by column; on a full tie the lower seq wins. */
const APPLY = `
  WITH given AS (
    SELECT * FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
      $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::text[])
    AS given (effect, kind, id, field, member, shape, rank, lamport, site, seq, value)
  ), higher AS (${upsert('higher', `cells.value IS NOT NULL AND ${version('excluded', '-')} > ${version('cells', '-')}`)}
  ), lower AS (${upsert('lower', `cells.value IS NOT NULL AND ${version('excluded')} < ${version('cells')}`)}
  )${upsert('remove', 'cells.value IS NOT NULL OR excluded.seq < cells.seq')}`;

/**
 * Many cells in one statement; of several changes of one cell the one that wins, since a statement may touch a row once. Workers write
 * the rows that they share in one order, so that they wait for each other instead of breaking each other off.
 */
export async function apply(
  connection: PostgresConnection,
  stream: string,
  epoch: number,
  changes: readonly ViewChange[],
): Promise<void> {
  assertStorable(stream, changes);
  if (changes.length === 0) return;
  await connection.write([applying(stream, epoch, strongest(changes))]);
}

function applying(stream: string, epoch: number, changes: readonly ViewChange[]): Statement {
  const names = (['kind', 'id', 'field', 'member', 'shape'] as const).map((name) =>
    changes.map((change) => change[name]),
  );
  const effects = changes.map((change) => (change.effect === 'remove' ? 'remove' : change.rule));
  const numbers = (['rank', 'lamport', 'site'] as const).map((part) =>
    changes.map((change) => (change.effect === 'remove' ? 0n : change.version[part])),
  );
  const seqs = changes.map((change) => (change.effect === 'remove' ? change.seq : change.version.seq));
  const values = changes.map((change) => (change.effect === 'remove' ? null : change.value));
  return { text: APPLY, values: [stream, epoch, effects, ...names, ...numbers, seqs, values] };
}
