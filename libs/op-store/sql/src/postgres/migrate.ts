import type { OpenPool } from '@tidemark/libs-driver-postgres';
import { Fault } from '@tidemark/libs-kernel';
import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { opStoreTables } from '../schema.ts';
import { CHANGES_SQL } from './track-changes.ts';

/** Format of the tables, in op_store_format. Without that table they are none, older, or those of another relay of this protocol. */
const FORMAT = 1;

/** A class of locks that is none of a stream's. */
const MIGRATION_LOCK = 'SELECT pg_advisory_xact_lock(3, 0)';

/** Longer than a migration takes, another opener's too. */
const LOCK_MS_MAX = 60_000;

/**
 * Creates what is missing and keeps what is there; ops of a database without the column `extra` then have no unknown fields. All of it
 * is one transaction that looks after it has the lock: of several that open a database together, one migrates and the others find it
 * done (RLY-18). A newer format is refused in one line, and left as it is (OPS-5).
 */
export async function migrate({ dataSource, pool }: OpenPool, where: string): Promise<void> {
  const client = await pool.connect();
  try {
    if (await isCurrent(client, where)) return;
    const creations = await tableCreations(dataSource);
    await client.query(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${LOCK_MS_MAX}`);
    try {
      await client.query(MIGRATION_LOCK);
      if (!(await isCurrent(client, where))) await create(client, creations);
      await client.query('COMMIT');
    } catch (thrown) {
      await client.query('ROLLBACK').catch(() => {});
      throw thrown;
    }
  } finally {
    client.release();
  }
}

async function create(client: PoolClient, creations: readonly Creation[]): Promise<void> {
  for (const { name, sql } of creations) {
    if (!(await isThere(client, name))) for (const statement of sql) await client.query(statement);
  }
  await client.query(`ALTER TABLE stream_ops ADD COLUMN IF NOT EXISTS extra text NOT NULL DEFAULT '{}'`);
  const { rows } = await client.query(`
    SELECT quote_ident(nspname) AS schema FROM pg_class JOIN pg_namespace space ON space.oid = relnamespace
    WHERE pg_class.oid = to_regclass('stream_ops')`);
  await client.query(CHANGES_SQL(rows[0].schema));
  await client.query(`
    CREATE TABLE IF NOT EXISTS op_store_format (format integer NOT NULL);
    DELETE FROM op_store_format;
    INSERT INTO op_store_format VALUES (${FORMAT})`);
}

async function isCurrent(client: PoolClient, where: string): Promise<boolean> {
  if (!(await isThere(client, 'op_store_format'))) return false;
  const { rows } = await client.query('SELECT format FROM op_store_format');
  const format = rows[0]?.format ?? 0;
  if (format > FORMAT) {
    throw new Fault(
      'misconfigured',
      `${where} has format ${format}, and this build reads up to ${FORMAT}: start a newer build`,
    );
  }
  return format === FORMAT;
}

/** Read from the catalog: a name by itself may be remembered as missing from before the lock was waited for. */
async function isThere(client: PoolClient, name: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM pg_class WHERE oid = to_regclass($1)', [name]);
  return rowCount === 1;
}

/** The statements that make the table `name`. */
interface Creation {
  readonly name: string;
  readonly sql: readonly string[];
}

/** TypeORM writes the statements down instead of running them one by one in transactions of its own. */
async function tableCreations(dataSource: DataSource): Promise<Creation[]> {
  const creations: Creation[] = [];
  const queryRunner = dataSource.createQueryRunner();
  try {
    for (const table of opStoreTables('bigint')) {
      queryRunner.enableSqlMemory();
      await queryRunner.createTable(table);
      creations.push({ name: table.name, sql: queryRunner.getMemorySql().upQueries.map(({ query }) => query) });
      queryRunner.disableSqlMemory();
    }
  } finally {
    await queryRunner.release();
  }
  return creations;
}
