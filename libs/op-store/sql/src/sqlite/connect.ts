import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import type { OpStore, PrefixRegistry, PresenceBoard } from '@tidemark/libs-op-store-contract';
import { SqliteConnection } from './connection.ts';
import { sqliteOpStore } from './op-store.ts';
import { sqlitePrefixRegistry } from './prefix-registry.ts';
import { sqlitePresenceBoard } from './presence-board.ts';

export interface SqliteOptions {
  /** Created when missing, its folder too. Any number of processes of one host may share it (RLY-18), a relay of another make too. */
  readonly file: string;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  /** How long a call waits, without holding up this process, while another process writes; then it is `unavailable`. Default 5000. */
  readonly busyTimeoutMs?: number;
}

export interface SqliteStores {
  readonly opStore: OpStore;
  readonly prefixRegistry: PrefixRegistry;
  readonly presenceBoard: PresenceBoard;
  /** Closes the connection that the three share, as opStore.close() does. */
  close(): Promise<void>;
}

/**
 * Op log, prefix claims and presence in one SQLite file, over one connection.
 *
 * WAL with synchronous=FULL: what a write answered is on disk (RLY-6). Every write is one short synchronous transaction that takes the
 * write lock when it begins, so calls of one process never interleave and seqs are taken where they are stored (RLY-4).
 */
export async function connectSqlite(options: SqliteOptions): Promise<SqliteStores> {
  const connection = await SqliteConnection.open({ busyTimeoutMs: 5000, ...options });
  return {
    opStore: sqliteOpStore(connection, options.clock),
    prefixRegistry: sqlitePrefixRegistry(connection),
    presenceBoard: sqlitePresenceBoard(connection),
    close: () => connection.close(),
  };
}
