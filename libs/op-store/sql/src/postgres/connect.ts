import {
  mapError,
  negotiateTls,
  type OpenPool,
  openPool,
  parseAddress,
  PostgresConnection,
} from '@tidemark/libs-driver-postgres';
import type { Clock, Random, Sleeper } from '@tidemark/libs-kernel';
import type { IndexedOpStore, PrefixRegistry, PresenceBoard } from '@tidemark/libs-op-store-contract';
import { Announcer, channelOf } from './announcer.ts';
import { migrate } from './migrate.ts';
import { postgresOpStore } from './op-store.ts';
import { postgresPrefixRegistry } from './prefix-registry.ts';
import { postgresPresenceBoard } from './presence-board.ts';
import { OPS } from './use.ts';

export interface PostgresOptions {
  /**
   * `postgres://user:password@host:port/database?sslmode=require`. sslmode is `disable`, `prefer` (the default: plain text only if the
   * server offers no TLS) or `require`; with TLS the certificate is verified. `options=-c search_path=...` chooses a schema. Any number
   * of processes may share a database (RLY-18), relays of another make too.
   */
  readonly url: string;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  /** A PEM file of roots, in addition to Node's own. */
  readonly caFile?: string | undefined;
  /** Connections; one more is used for each watch. Default 16. */
  readonly poolMax?: number;
  /** How long a call waits for a connection; then it is `unavailable`. Default 30,000. */
  readonly acquireTimeoutMs?: number;
  /** How long a write waits for another process that holds the stream; then it is `unavailable`. Default 10,000. */
  readonly lockTimeoutMs?: number;
  /** Hears, in one line, of what an operator should know and no call fails for. */
  warn(message: string): void;
}

export interface PostgresStores {
  readonly opStore: IndexedOpStore;
  readonly prefixRegistry: PrefixRegistry;
  readonly presenceBoard: PresenceBoard;
  /** Closes the pool that the three share, as opStore.close() does. */
  close(): Promise<void>;
}

/**
 * Op log, prefix claims and presence in one Postgres database, over one pool.
 *
 * A write is one transaction, sent in one piece and synced before it is answered (RLY-6), under the advisory lock of its stream: a seq is
 * taken where it is stored, and becomes visible in the order of seqs (RLY-3, RLY-4). The lock ends with the transaction, so nothing of it
 * can stay behind in a pooler; one that works by transactions may stand in between.
 */
export async function connectPostgres(options: PostgresOptions): Promise<PostgresStores> {
  const { acquireTimeoutMs = 30_000, lockTimeoutMs = 10_000, poolMax = 16, clock } = options;
  const address = parseAddress(options.url);
  const { where } = address;
  const ssl = await negotiateTls(address, { ...options, use: OPS, connectTimeoutMs: acquireTimeoutMs });
  let opened: OpenPool | undefined;
  try {
    opened = await openPool(address, ssl, { use: OPS, poolMax, acquireTimeoutMs });
    await migrate(opened, where);
    const connection = new PostgresConnection({ where, use: OPS, lockTimeoutMs }, opened.dataSource, opened.pool);
    const channel = await channelOf(connection);
    const watching = { ...options, connection, channel, client: opened.client };
    return {
      opStore: postgresOpStore(connection, clock, new Announcer(connection, channel), watching),
      prefixRegistry: postgresPrefixRegistry(connection),
      presenceBoard: postgresPresenceBoard(connection),
      close: () => connection.close(),
    };
  } catch (thrown) {
    if (opened?.dataSource.isInitialized) await opened.dataSource.destroy();
    throw mapError(thrown, where, OPS);
  }
}
