import { Fault } from '@tidemark/libs-kernel';
import type { DataSource } from 'typeorm';
import { opStoreTables } from '../schema.ts';
import type { Handle } from './open-file.ts';
import { prepareTransaction } from './transaction.ts';

/** Format of the file, in its user_version. 0 is an empty file, an older one, or one that another relay of this protocol made. */
const FORMAT = 3;

/** "TMOP": tells an op log from other SQLite files once it has a format. */
const APPLICATION_ID = 0x544d4f50;

/** Of SQLite's own; see rowids.ts. */
const REMOVED_ROWIDS: Creation = {
  name: 'removed_rowids',
  sql: 'CREATE TABLE removed_rowids (only_row integer PRIMARY KEY CHECK (only_row = 1), last integer NOT NULL)',
};

/** A statement that makes the table or index `name`. */
interface Creation {
  readonly name: string;
  readonly sql: string;
}

export function isCurrent(handle: Handle): boolean {
  return formatOf(handle) === FORMAT;
}

/** Fault `misconfigured`, in one line that names the file, when it is no op log or of a newer format. */
export function assertReadable(handle: Handle, file: string): void {
  const format = formatOf(handle);
  const owner = handle.pragma('application_id', { simple: true });
  if (owner !== (format === 0 ? 0 : APPLICATION_ID)) throw new Fault('misconfigured', `${file} is not an op log`);
  if (format > FORMAT) {
    throw new Fault(
      'misconfigured',
      `${file} has format ${format}, and this build reads up to ${FORMAT}: start a newer build`,
    );
  }
}

/**
 * Creates what is missing and keeps what is there; a file without the column `extra` gains it, and its ops then have no unknown fields.
 * All of it is one synchronous transaction that looks after it has the write lock: of several that open a file together, one migrates
 * and the others find it done.
 */
export async function migrate(dataSource: DataSource, handle: Handle): Promise<void> {
  const creations = await tableCreations(dataSource);
  prepareTransaction(handle)(() => {
    const known = handle.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?');
    for (const { name, sql } of creations) if (known.get(name) === undefined) handle.exec(sql);
    const extra = handle.prepare(`SELECT 1 FROM pragma_table_info('stream_ops') WHERE name = 'extra'`);
    if (extra.get() === undefined) handle.exec(`ALTER TABLE stream_ops ADD COLUMN extra text NOT NULL DEFAULT '{}'`);
    handle.pragma(`application_id = ${APPLICATION_ID}`);
    handle.pragma(`user_version = ${FORMAT}`);
  });
}

/** TypeORM writes the statements down instead of running them one by one with pauses between. */
async function tableCreations(dataSource: DataSource): Promise<Creation[]> {
  const creations: Creation[] = [REMOVED_ROWIDS];
  const queryRunner = dataSource.createQueryRunner();
  for (const table of opStoreTables('integer')) {
    queryRunner.enableSqlMemory();
    await queryRunner.createTable(table);
    const statements = queryRunner.getMemorySql().upQueries.map(({ query }) => query);
    const names = [table.name, ...table.indices.map(({ name }) => name as string)];
    creations.push(...names.map((name, i) => ({ name, sql: statements[i] as string })));
    queryRunner.disableSqlMemory();
  }
  return creations;
}

function formatOf(handle: Handle): number {
  return handle.pragma('user_version', { simple: true }) as number;
}
