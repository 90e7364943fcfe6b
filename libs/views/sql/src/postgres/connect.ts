import {
  mapError,
  negotiateTls,
  type OpenPool,
  openPool,
  parseAddress,
  PostgresConnection,
} from '@tidemark/libs-driver-postgres';
import type { Views } from '@tidemark/libs-views-contract';
import { apply } from './apply.ts';
import { readDocument, readPage } from './documents.ts';
import { abandonBuild, dropEpochs, startBuild, switchTo } from './epochs.ts';
import { type FieldIndex, declareIndexes } from './indexes.ts';
import { listMarks, readMark, saveMark } from './marks.ts';
import { migrate } from './migrate.ts';
import { listParked, park, unpark } from './parked.ts';
import { VIEWS } from './use.ts';

export interface PostgresViewsOptions {
  /**
   * `postgres://user:password@host:port/database?sslmode=require`. sslmode is `disable`, `prefer` (the default: plain text only if the
   * server offers no TLS) or `require`; with TLS the certificate is verified. `options=-c search_path=...` chooses a schema. Any number of
   * workers may share a database, a relay's tables may lie beside.
   */
  readonly url: string;
  /** Fields whose values get an index, and the column `indexed`. Default: none. */
  readonly indexes?: readonly FieldIndex[];
  /** A PEM file of roots, in addition to Node's own. */
  readonly caFile?: string | undefined;
  /** Connections. Default 8. */
  readonly poolMax?: number;
  /** How long a call waits for a connection; then it is `unavailable`. Default 30,000. */
  readonly acquireTimeoutMs?: number;
  /** How long a write waits for another worker's; then it is `unavailable`. Default 10,000. */
  readonly lockTimeoutMs?: number;
  /** Hears, in one line, of what an operator should know and no call fails for. */
  warn(message: string): void;
}

/**
 * Views in one Postgres database.
 *
 * Every write is one transaction, sent in one piece and synced before it is answered: a call of apply is stored whole or not at all, and a
 * mark never before the rows that were applied before it. One that is not answered may be stored (`unknown_outcome`), and may be repeated:
 * saveMark then answers `conflict` if it was. A page of documents is one snapshot.
 *
 * Values stand in view_cells.value to the byte; in fields that `indexes` names also in view_cells.indexed as jsonb, if they are scalars of
 * at most 1,000 bytes that jsonb can hold.
 */
export async function connectPostgresViews(options: PostgresViewsOptions): Promise<Views> {
  const { acquireTimeoutMs = 30_000, lockTimeoutMs = 10_000, poolMax = 8, indexes = [] } = options;
  const address = parseAddress(options.url);
  const { where } = address;
  const ssl = await negotiateTls(address, { ...options, use: VIEWS, connectTimeoutMs: acquireTimeoutMs });
  let opened: OpenPool | undefined;
  try {
    opened = await openPool(address, ssl, { use: VIEWS, poolMax, acquireTimeoutMs });
    await migrate(opened, where);
    await declareIndexes(opened, indexes);
    return postgresViews(new PostgresConnection({ where, use: VIEWS, lockTimeoutMs }, opened.dataSource, opened.pool));
  } catch (thrown) {
    if (opened?.dataSource.isInitialized) await opened.dataSource.destroy();
    throw mapError(thrown, where, VIEWS);
  }
}

function postgresViews(connection: PostgresConnection): Views {
  return {
    mark: (stream) => readMark(connection, stream, 'shown'),
    build: (stream) => readMark(connection, stream, 'build'),
    apply: (...change) => apply(connection, ...change),
    saveMark: (...save) => saveMark(connection, ...save),
    startBuild: (...start) => startBuild(connection, ...start),
    switchTo: (...epoch) => switchTo(connection, ...epoch),
    abandonBuild: (...epoch) => abandonBuild(connection, ...epoch),
    dropEpochs: (...drop) => dropEpochs(connection, ...drop),
    park: (...op) => park(connection, ...op),
    parked: (...page) => listParked(connection, ...page),
    unpark: (...op) => unpark(connection, ...op),
    marks: (...page) => listMarks(connection, ...page),
    document: (...document) => readDocument(connection, ...document),
    documents: (...page) => readPage(connection, ...page),
    ping: async () => void (await connection.read({ text: 'SELECT 1 FROM view_marks LIMIT 1', values: [] })),
    close: () => connection.close(),
  };
}
