import { type Clock, Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { DataSource } from 'typeorm';
import { isBusy, mapError } from './map-error.ts';
import { type Handle, openFile } from './open-file.ts';
import { prepareTransaction, type Transaction } from './transaction.ts';

export interface ConnectionOptions {
  readonly file: string;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly busyTimeoutMs: number;
}

/** SQLite itself waits this long for a lock, holding up the whole process; a longer wait is spent asleep between tries. */
const BUSY_SLICE_MS = 50;
const BUSY_PAUSE_MS = 5;

/** One connection to one file. Work given to it is synchronous: nothing of this process runs in the middle of it. */
export class SqliteConnection {
  readonly handle: Handle;
  readonly #options: ConnectionOptions;
  readonly #dataSource: DataSource;
  readonly #transaction: Transaction;

  private constructor(options: ConnectionOptions, dataSource: DataSource, handle: Handle) {
    this.#options = options;
    this.#dataSource = dataSource;
    this.#transaction = prepareTransaction(handle);
    this.handle = handle;
  }

  static async open(options: ConnectionOptions): Promise<SqliteConnection> {
    const { dataSource, handle } = await patiently(options, () => openFile(options.file, BUSY_SLICE_MS));
    return new SqliteConnection(options, dataSource, handle);
  }

  /** Runs work that changes nothing. */
  read<T>(work: () => T): Promise<T> {
    return patiently(this.#options, () => this.#whileOpen(work));
  }

  /** Runs work as one transaction: all of it is on disk when this resolves, or nothing of it is kept. Repeated while another writes. */
  write<T>(work: () => T): Promise<T> {
    return patiently(this.#options, () => this.#whileOpen(() => this.#transaction(work)));
  }

  async close(): Promise<void> {
    if (this.#dataSource.isInitialized) await this.#dataSource.destroy();
  }

  #whileOpen<T>(work: () => T): T {
    if (!this.handle.open) throw new Fault('unavailable', `${this.#options.file} is closed`);
    return work();
  }
}

/** Tries again while another process holds the lock, up to the timeout. Whatever else is thrown leaves as a Fault. */
async function patiently<T>(options: ConnectionOptions, work: () => T | Promise<T>): Promise<T> {
  const { file, clock, sleeper, busyTimeoutMs } = options;
  const deadlineMs = clock.monotonic() + busyTimeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      if (!isBusy(thrown) || clock.monotonic() >= deadlineMs) throw mapError(thrown, file);
    }
    await sleeper.sleep(BUSY_PAUSE_MS);
  }
}
