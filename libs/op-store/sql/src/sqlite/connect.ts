import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import type { IndexedOpStore, PrefixRegistry, PresenceBoard } from '@tidemark/libs-op-store-contract';
import { SqliteConnection } from './connection.ts';
import { sqliteOpStore } from './op-store.ts';
import { sqlitePrefixRegistry } from './prefix-registry.ts';
import { sqlitePresenceBoard } from './presence-board.ts';

export interface SqliteOptions {
  /** Created when missing, its folder too. Any number of processes of one host may share it (RLY-18), a relay of another make too. */
  readonly file: string;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  /**
   * How long writes wait together, without holding up this thread, while another process writes; then they are `unavailable`, and each one
   * that comes is tried once, until one gets the file or none is left that waits. Default 5000.
   */
  readonly busyTimeoutMs?: number;
}

export interface SqliteStores {
  readonly opStore: IndexedOpStore;
  readonly prefixRegistry: PrefixRegistry;
  readonly presenceBoard: PresenceBoard;
  /** Rejects, with a fault that says why, when nothing can be written any more: the process should end. Reads go on. */
  readonly failed: Promise<never>;
  /** Closes the connection that the three share, as opStore.close() does. Writes that wait still end, each within its time. */
  close(): Promise<void>;
}

/**
 * Op log, prefix claims and presence in one SQLite file: read by this thread, written by one of its own (docs/adr/0010-sqlite-writer-thread.md).
 *
 * WAL with synchronous=FULL: what a write answered is on disk (RLY-6). Writes that wait together are one transaction and one fsync. It takes
 * the write lock when it begins, so seqs are taken where they are stored (RLY-4).
 */
export async function connectSqlite(options: SqliteOptions): Promise<SqliteStores> {
  return storesOn(await SqliteConnection.open({ busyTimeoutMs: 5000, ...options }), options.clock);
}

export function storesOn(connection: SqliteConnection, clock: Clock): SqliteStores {
  return {
    opStore: sqliteOpStore(connection, clock),
    prefixRegistry: sqlitePrefixRegistry(connection),
    presenceBoard: sqlitePresenceBoard(connection),
    failed: connection.failed,
    close: () => connection.close(),
  };
}
