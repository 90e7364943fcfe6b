import type {
  Document,
  DocumentPage,
  StoredMark,
  ViewChange,
  Views,
  WatermarkState,
} from '@tidemark/libs-views-contract';
import type { DataSource } from 'typeorm';
import { type Apply, prepareApply } from './apply.ts';
import { type Documents, prepareDocuments } from './documents.ts';
import { mapError } from './map-error.ts';
import { type Marks, prepareMarks } from './marks.ts';
import { type Handle, openFile } from './open-file.ts';

export interface SqliteViewsOptions {
  /** Created when missing, its folder too. Several processes of one host may share it. */
  readonly file: string;
  /** How long a write waits for another process's write, blocking this one; then it is `unavailable`. Default 2000. */
  readonly busyTimeoutMs?: number;
}

/**
 * Views in one SQLite file. Every call is one statement or one short transaction on the connection, and ends before the next begins.
 *
 * WAL with synchronous=NORMAL: a commit is in the operating system's hands when it resolves, so a killed process loses nothing. A power
 * loss may drop the newest commits, always from the end: a mark cannot outlive rows that were applied before it, and what was dropped is
 * folded again from the log. Syncing every commit would pay for rows that can be derived again.
 */
export async function connectSqliteViews({ file, busyTimeoutMs = 2000 }: SqliteViewsOptions): Promise<Views> {
  try {
    const { dataSource, handle } = await openFile(file, busyTimeoutMs);
    return new SqliteViews(file, dataSource, handle);
  } catch (thrown) {
    throw mapError(thrown, file);
  }
}

class SqliteViews implements Views {
  readonly #file: string;
  readonly #dataSource: DataSource;
  readonly #apply: Apply;
  readonly #marks: Marks;
  readonly #documents: Documents;
  readonly #ping: () => unknown;

  constructor(file: string, dataSource: DataSource, handle: Handle) {
    this.#file = file;
    this.#dataSource = dataSource;
    this.#apply = prepareApply(handle);
    this.#marks = prepareMarks(handle);
    this.#documents = prepareDocuments(handle);
    const look = handle.prepare('SELECT 1 FROM marks LIMIT 1');
    this.#ping = () => look.get();
  }

  async mark(stream: string): Promise<StoredMark | null> {
    return this.#run(() => this.#marks.read(stream));
  }

  async apply(stream: string, epoch: number, changes: readonly ViewChange[]): Promise<void> {
    if (changes.length > 0) this.#run(() => this.#apply(stream, epoch, changes));
  }

  async saveMark(
    stream: string,
    epoch: number,
    watermark: WatermarkState,
    expectedVersion: number,
  ): Promise<'saved' | 'conflict'> {
    return this.#run(() => this.#marks.save(stream, epoch, watermark, expectedVersion));
  }

  async document(stream: string, kind: string, id: string): Promise<Document | null> {
    return this.#run(() => this.#documents.one(stream, kind, id));
  }

  async documents(
    stream: string,
    kind: string,
    after: string | null,
    limit: number,
    bytesMax?: number,
  ): Promise<DocumentPage> {
    return this.#run(() => this.#documents.page(stream, kind, after, limit, bytesMax));
  }

  async ping(): Promise<void> {
    this.#run(this.#ping);
  }

  async close(): Promise<void> {
    if (this.#dataSource.isInitialized) await this.#dataSource.destroy();
  }

  #run<T>(work: () => T): T {
    try {
      return work();
    } catch (thrown) {
      throw mapError(thrown, this.#file);
    }
  }
}
