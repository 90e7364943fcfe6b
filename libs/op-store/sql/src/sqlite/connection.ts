import { type Clock, Fault, type Sleeper } from '@tidemark/libs-kernel';
import type { DataSource } from 'typeorm';
import type { AnswerTo, Command, Writer } from './command.ts';
import { JoinedWrites } from './joined-writes.ts';
import { isBusy, mapError } from './map-error.ts';
import { type Handle, type OpenFile, openFile } from './open-file.ts';
import { ThreadWriter } from './thread-writer.ts';
import type { Weight } from './weight.ts';

export interface ConnectionOptions {
  readonly file: string;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly busyTimeoutMs: number;
}

/** SQLite itself waits this long for a lock, holding up the whole process; a longer wait is spent asleep between tries. */
const BUSY_SLICE_MS = 50;
const BUSY_PAUSE_MS = 5;
const ONE_ROW: Weight = { rows: 1, units: 0 };

/** One file, read here and written by the writer, which is another thread. Reads see every write that was answered. */
export class SqliteConnection {
  readonly handle: Handle;
  readonly #options: ConnectionOptions;
  readonly #dataSource: DataSource;
  readonly #writer: Writer;
  readonly #writes: JoinedWrites;
  #closing: Promise<void> | undefined;

  private constructor(options: ConnectionOptions, { dataSource, handle }: OpenFile, writer: Writer) {
    this.#options = options;
    this.#dataSource = dataSource;
    this.#writer = writer;
    this.#writes = new JoinedWrites({ ...options, writer });
    this.handle = handle;
  }

  static async open(
    options: ConnectionOptions,
    writer = new ThreadWriter(options) as Writer,
  ): Promise<SqliteConnection> {
    const opened = await patiently(options, () => openFile(options.file, BUSY_SLICE_MS));
    return new SqliteConnection(options, opened, writer);
  }

  /** See SqliteStores. */
  get failed(): Promise<never> {
    return this.#writes.failed;
  }

  /** Runs synchronous work that changes nothing. */
  read<T>(work: () => T): Promise<T> {
    return patiently(this.#options, () => {
      if (this.#closing !== undefined) throw new Fault('unavailable', `${this.#options.file} is closed`);
      return work();
    });
  }

  /** Lets the rest of this process have its turn. */
  turn(): Promise<void> {
    return this.#options.sleeper.sleep(0);
  }

  /** On disk when this resolves, together with other writes that waited. */
  write<C extends Command>(command: C, weight = ONE_ROW): Promise<AnswerTo[C['kind']]> {
    return this.#writes.run(command, weight);
  }

  /** Writes that wait still end, each within its time. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#writes.close();
    await this.#writer.close();
    await this.#dataSource.destroy();
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
