import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { type BackoffShape, type Clock, Fault, type Random, type Sleeper, backoffMs } from '@tidemark/libs-kernel';
import { prepareFormat } from './format.ts';
import { faultOf } from './map-error.ts';
import { messageOf } from './sqlite-code.ts';

/** SQLite's own waiting, which holds up the event loop: for the rare moments in which a look needs a lock. */
const BUSY_TIMEOUT_MS = 5;
const OPEN_TRIES_MAX = 100;
const OPEN_BACKOFF: BackoffShape = { baseMs: 10, ceilingMs: 50 };
/** The log shrinks to this after a time in which it grew. */
const LOG_BYTES_KEPT = 64 * 1024 * 1024;

/** One connection to the file that every process of the host shares. */
export class QueueFile {
  readonly db: Database;
  #ended = false;

  constructor(db: Database) {
    this.db = db;
  }

  get isOpen(): boolean {
    return !this.#ended;
  }

  /** Runs a look at the file; what it throws comes out as a fault. */
  read<T>(look: () => T): T {
    if (!this.isOpen) throw new Fault('unavailable', 'the queue file is closed');
    try {
      return look();
    } catch (thrown) {
      throw faultOf(thrown);
    }
  }

  /** Lets nobody look any more; writes that wait still end. */
  end(): void {
    this.#ended = true;
  }

  close(): void {
    this.db.close();
  }
}

export interface OpenFileOptions {
  readonly folder: string;
  readonly fileBytesMax: number | undefined;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
}

/** Several processes may come to a new file together: whoever finds it busy waits. */
export async function openQueueFile(options: OpenFileOptions): Promise<QueueFile> {
  for (let attempt = 0; ; attempt++) {
    try {
      return tryToOpen(options);
    } catch (thrown) {
      const fault = faultOf(thrown);
      if (fault.code !== 'unavailable' || attempt >= OPEN_TRIES_MAX) throw fault;
    }
    await options.sleeper.sleep(backoffMs(attempt, OPEN_BACKOFF, options.random));
  }
}

function tryToOpen({ folder, fileBytesMax, clock }: OpenFileOptions): QueueFile {
  const db = openIn(resolve(folder));
  try {
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma(`journal_size_limit = ${LOG_BYTES_KEPT}`);
    prepareFormat(db, clock);
    if (fileBytesMax !== undefined) limitPages(db, fileBytesMax);
    return new QueueFile(db);
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

function openIn(folder: string): Database {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (thrown) {
    throw new Fault('misconfigured', `queue folder: ${messageOf(thrown)}`, { cause: thrown });
  }
  return new Sqlite(join(folder, 'queue.sqlite'), { timeout: BUSY_TIMEOUT_MS });
}

function limitPages(db: Database, fileBytesMax: number): void {
  const pageBytes = Number(db.pragma('page_size', { simple: true }));
  db.pragma(`max_page_count = ${Math.max(1, Math.floor(fileBytesMax / pageBytes))}`);
}
