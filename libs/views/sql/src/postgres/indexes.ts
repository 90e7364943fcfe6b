import { createHash } from 'node:crypto';
import type { OpenPool } from '@tidemark/libs-driver-postgres';
import type { PoolClient } from 'pg';
import pg from 'pg';
import { withMigrationLock } from './migrate.ts';

/** A field whose values are looked for in SQL, past this adapter. */
export interface FieldIndex {
  readonly kind: string;
  readonly field: string;
}

/**
 * Makes the indexes that are declared and removes the others, so that the database has those of whoever opened it last. Which they are
 * stands in the database, and every writer fills the column by that, whatever it declares itself. Writes wait while an index is made, and
 * cells that were there before are filled then.
 */
export async function declareIndexes(opened: OpenPool, declared: readonly FieldIndex[]): Promise<void> {
  const wanted = new Map(declared.map((index) => [nameOf(index), index]));
  const isDone = async (client: PoolClient) => {
    const known = await indexesOf(client);
    return known.length === wanted.size && known.every((index) => wanted.has(nameOf(index)));
  };
  await withMigrationLock(opened, isDone, async (client) => {
    await client.query('LOCK TABLE view_cells IN SHARE ROW EXCLUSIVE MODE');
    const known = new Map((await indexesOf(client)).map((index) => [nameOf(index), index]));
    for (const [name, index] of known) if (!wanted.has(name)) await drop(client, name, index);
    for (const [name, index] of wanted) if (!known.has(name)) await create(client, name, index);
  });
}

async function indexesOf(client: PoolClient): Promise<FieldIndex[]> {
  return (await client.query<FieldIndex>('SELECT kind, field FROM view_indexes')).rows;
}

async function create(client: PoolClient, name: string, { kind, field }: FieldIndex): Promise<void> {
  await client.query('INSERT INTO view_indexes (kind, field) VALUES ($1, $2)', [kind, field]);
  await client.query(
    `UPDATE view_cells SET indexed = view_indexed(value)
     WHERE kind = $1 AND field = $2 AND indexed IS DISTINCT FROM view_indexed(value)`,
    [kind, field],
  );
  const cells = `kind = ${pg.escapeLiteral(kind)} AND field = ${pg.escapeLiteral(field)} AND indexed IS NOT NULL`;
  await client.query(`CREATE INDEX ${name} ON view_cells (stream, epoch, indexed, id) WHERE ${cells}`);
  await client.query(`COMMENT ON INDEX ${name} IS ${pg.escapeLiteral(JSON.stringify({ kind, field }))}`);
}

/** What stands in the column stays: it is right, and nobody looks for it. */
async function drop(client: PoolClient, name: string, { kind, field }: FieldIndex): Promise<void> {
  await client.query(`DROP INDEX IF EXISTS ${name}`);
  await client.query('DELETE FROM view_indexes WHERE kind = $1 AND field = $2', [kind, field]);
}

/** A name in SQL is short and plain. */
function nameOf({ kind, field }: FieldIndex): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([kind, field]))
    .digest('hex');
  return `view_cells_by_${digest.slice(0, 16)}`;
}
