import type { ConnectionOptions } from 'node:tls';
import { Fault } from '@tidemark/libs-kernel';
import pg, { type ClientConfig, type Pool, type PoolClient, type PoolConfig } from 'pg';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { Address } from './address.ts';
import type { PostgresUse } from './use.ts';

export interface PoolOptions {
  readonly use: PostgresUse;
  readonly poolMax: number;
  readonly acquireTimeoutMs: number;
}

export interface OpenPool {
  readonly dataSource: DataSource;
  /**
   * TypeORM's own pool. Statements run on its clients directly: several are sent at once, and cells are read as what they are instead of
   * through a QueryRunner.
   */
  readonly pool: Pool;
  /** Of a connection outside the pool. */
  readonly client: ClientConfig;
}

const BIGINT_OID = 20;

/** The oldest that is tested; before it a transaction's number had 32 bits. */
const SERVER_VERSION_MIN = 130_000;

/** A connection is made here, so that a URL that leads nowhere is known at once; later ones are made when needed. */
export async function openPool(
  { url, where }: Address,
  ssl: ConnectionOptions | false,
  { use, poolMax, acquireTimeoutMs }: PoolOptions,
): Promise<OpenPool> {
  const client: ClientConfig = {
    connectionString: url,
    ssl,
    connectionTimeoutMillis: acquireTimeoutMs,
    application_name: 'tidemark',
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    types: { getTypeParser },
    // What is asked together is sent together.
    pipeline: true,
  };
  const extra: PoolConfig = { ...client, max: poolMax };
  const dataSource = new DataSource({ type: 'postgres', url, driver: pg, extra, poolErrorHandler: () => {} });
  await dataSource.initialize();
  const pool = (dataSource.driver as PostgresDriver).master as Pool;
  pool.on('acquire', hear);
  try {
    await assertUsable(pool, where, use);
  } catch (thrown) {
    await dataSource.destroy();
    throw thrown;
  }
  return { dataSource, pool, client };
}

/**
 * A connection that breaks fails whatever was asked of it, and says so once more; unheard, that would end the process. Listened for
 * before the pool hands it out: it may end in the same moment.
 */
function hear(client: PoolClient): void {
  if (!client.listeners('error').includes(unheard)) client.on('error', unheard);
}

function unheard(): void {}

/** 64-bit integers are bigint all the way (RLY-2). */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return oid === BIGINT_OID ? BigInt : pg.types.getTypeParser(oid, format as 'text');
}

async function assertUsable(pool: Pool, where: string, { needsUtf8 }: PostgresUse): Promise<void> {
  const { rows } = await pool.query(`
    SELECT current_setting('server_version_num')::integer AS version, current_setting('server_encoding') AS encoding`);
  const { version, encoding } = rows[0];
  if (version < SERVER_VERSION_MIN) throw new Fault('misconfigured', `${where} is older than Postgres 13`);
  if (needsUtf8 && encoding !== 'UTF8')
    throw new Fault('misconfigured', `${where} keeps texts in ${encoding}: it needs UTF8`);
}
