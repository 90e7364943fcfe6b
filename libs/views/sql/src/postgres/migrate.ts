import type { OpenPool } from '@tidemark/libs-driver-postgres';
import { Fault } from '@tidemark/libs-kernel';
import type { PoolClient } from 'pg';

/** Format of the tables, in view_format. */
const FORMAT = 1;

/** A class of locks that is none of a stream's. */
const MIGRATION_LOCK = 'SELECT pg_advisory_xact_lock(5, 0)';

/** Longer than a migration takes, another opener's too. */
const LOCK_MS_MAX = 60_000;

/**
 * `view_cells`: a row is one member; without a value it is removed, for ever. Names compare by their bytes. `indexed` holds the value again,
 * as far as view_indexed takes it, in fields that view_indexes lists.
 *
 * `view_marks`: a row is one epoch; the highest number stays when its epoch is left, so that it is not used again.
 */
const TABLES = `
  CREATE TABLE view_cells (
    stream  text COLLATE "C" NOT NULL,
    epoch   bigint NOT NULL,
    kind    text COLLATE "C" NOT NULL,
    id      text COLLATE "C" NOT NULL,
    field   text COLLATE "C" NOT NULL,
    member  text COLLATE "C" NOT NULL,
    shape   text NOT NULL,
    rank    bigint NOT NULL,
    lamport bigint NOT NULL,
    site    bigint NOT NULL,
    seq     bigint NOT NULL,
    value   text,
    indexed jsonb,
    PRIMARY KEY (stream, epoch, kind, id, field, member));
  CREATE TABLE view_marks (
    stream         text COLLATE "C" NOT NULL,
    epoch          bigint NOT NULL,
    role           text NOT NULL CHECK (role IN ('shown', 'build', 'left')),
    version        bigint NOT NULL,
    folded_through bigint NOT NULL,
    floor          bigint NOT NULL,
    ahead          text NOT NULL,
    holes          text NOT NULL,
    skipped        text NOT NULL,
    revisions      text NOT NULL,
    PRIMARY KEY (stream, epoch));
  CREATE UNIQUE INDEX view_marks_shown ON view_marks (stream) WHERE role = 'shown';
  CREATE UNIQUE INDEX view_marks_build ON view_marks (stream) WHERE role = 'build';
  CREATE TABLE view_parked (
    stream text COLLATE "C" NOT NULL,
    epoch  bigint NOT NULL,
    seq    bigint NOT NULL,
    op     text NOT NULL,
    PRIMARY KEY (stream, epoch, seq));
  CREATE TABLE view_indexes (kind text NOT NULL, field text NOT NULL, PRIMARY KEY (kind, field));
  CREATE FUNCTION view_indexed(value text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
  BEGIN
    -- An index entry has its bound, and lists and objects are not looked for by their whole.
    IF octet_length(value) > 1000 OR value ~ '^\\s*[[{]' THEN RETURN NULL; END IF;
    RETURN value::jsonb;
  EXCEPTION WHEN OTHERS THEN
    -- What JSON may say and jsonb cannot hold: \\u0000, a lone surrogate, a number beyond its range.
    RETURN NULL;
  END $$;
  CREATE TABLE view_format (format integer NOT NULL);
  INSERT INTO view_format VALUES (${FORMAT})`;

/**
 * Creates the tables where there are none. All of it is one transaction that looks after it has the lock: of several that open a database
 * together, one migrates and the others find it done. A newer format is refused in one line, and left as it is (OPS-5).
 */
export async function migrate(opened: OpenPool, where: string): Promise<void> {
  await withMigrationLock(
    opened,
    (client) => isCurrent(client, where),
    (client) => client.query(TABLES),
  );
}

/** Does the work unless it is done, by whomever: looked for first without the lock, which nothing waits for then. */
export async function withMigrationLock(
  { pool }: OpenPool,
  isDone: (client: PoolClient) => Promise<boolean>,
  work: (client: PoolClient) => Promise<unknown>,
): Promise<void> {
  const client = await pool.connect();
  try {
    if (await isDone(client)) return;
    await client.query(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${LOCK_MS_MAX}`);
    try {
      await client.query(MIGRATION_LOCK);
      if (!(await isDone(client))) await work(client);
      await client.query('COMMIT');
    } catch (thrown) {
      await client.query('ROLLBACK').catch(() => {});
      throw thrown;
    }
  } finally {
    client.release();
  }
}

async function isCurrent(client: PoolClient, where: string): Promise<boolean> {
  // Read from the catalog: a name by itself may be remembered as missing from before the lock was waited for.
  const found = await client.query(`SELECT FROM pg_class WHERE oid = to_regclass('view_format')`);
  if (found.rowCount === 0) return false;
  const { rows } = await client.query('SELECT format FROM view_format');
  const format = rows[0]?.format ?? 0;
  if (format > FORMAT) {
    throw new Fault(
      'misconfigured',
      `${where} has views of format ${format}, and this build reads up to ${FORMAT}: start a newer build`,
    );
  }
  return format === FORMAT;
}
