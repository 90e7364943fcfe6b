import { Fault } from '@tidemark/libs-kernel';
import type pg from 'pg';
import type { Pool, PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { endsSession, isServerError, mapError, WriteFailed, type WriteStage } from './map-error.ts';
import type { PostgresUse } from './use.ts';

/** With $1 and so on for the values. Never prepared by name: behind a pooler each transaction may run on another server connection. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Runs one statement in a transaction that is under way. */
export type Ask = <Row extends unknown[]>(statement: Statement) => Promise<Row[]>;

export interface ConnectionOptions {
  /** Names the database in messages, without secrets. */
  readonly where: string;
  readonly use: PostgresUse;
  readonly lockTimeoutMs: number;
}

/** A statement that runs longer is ended by the server, also when nobody waits for it any more. */
const READ_MS_MAX = 20_000;
const WRITE_MS_MAX = 30_000;
/** How much later than the server this side gives up, when nothing is heard any more. */
const SILENCE_MS_MAX = 5000;

/** The pool of connections to one database. */
export class PostgresConnection {
  readonly where: string;
  readonly #options: ConnectionOptions;
  readonly #dataSource: DataSource;
  readonly #pool: Pool;

  constructor(options: ConnectionOptions, dataSource: DataSource, pool: Pool) {
    this.where = options.where;
    this.#options = options;
    this.#dataSource = dataSource;
    this.#pool = pool;
  }

  /** Runs one statement that changes nothing; each row as the array of its cells. */
  async read<Row extends unknown[]>(statement: Statement, msMax = READ_MS_MAX): Promise<Row[]> {
    const client = await this.#acquire();
    const settled = await transact<Row>(client, [this.#begin(msMax), statement, COMMIT], msMax + SILENCE_MS_MAX);
    return this.#settle(client, settled)[1] as Row[];
  }

  /**
   * Runs the statements as one transaction and answers the rows of each: all of it is on disk when this resolves, or nothing of it is
   * kept, or the fault is `unknown_outcome`. All is sent at once, the COMMIT too, so the server holds a lock no longer than its own
   * work takes, however slow or dead this process is meanwhile (S1, S2, S4). If it stops halfway in sending, the server waits for the
   * rest as long as for a lock (R46).
   */
  async write<Row extends unknown[]>(statements: readonly Statement[], msMax = WRITE_MS_MAX): Promise<Row[][]> {
    const client = await this.#acquire();
    const silenceMsMax = this.#options.lockTimeoutMs + msMax + SILENCE_MS_MAX;
    const all = [this.#begin(msMax, DURABLE), ...statements, COMMIT];
    return this.#settle(client, await transact<Row>(client, all, silenceMsMax), true).slice(1, -1);
  }

  /** Runs reads one after the other in one snapshot. */
  async snapshot<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
    const client = await this.#acquire();
    const silenceMsMax = READ_MS_MAX + SILENCE_MS_MAX;
    let isOver = false;
    try {
      await run(client, this.#begin(READ_MS_MAX, '', 'REPEATABLE READ READ ONLY'), silenceMsMax);
      const answer = await work((statement) => run(client, statement, silenceMsMax));
      await run(client, COMMIT, silenceMsMax);
      isOver = true;
      return answer;
    } catch (thrown) {
      throw this.#fault(thrown);
    } finally {
      client.release(!isOver);
    }
  }

  assertOpen(): void {
    if (!this.#dataSource.isInitialized) throw new Fault('unavailable', `${this.where} is closed`);
  }

  async close(): Promise<void> {
    if (this.#dataSource.isInitialized) await this.#dataSource.destroy();
  }

  async #acquire(): Promise<PoolClient> {
    this.assertOpen();
    try {
      return await this.#pool.connect();
    } catch (thrown) {
      throw this.#fault(thrown);
    }
  }

  /** Gives the client back, or away when it is of no more use, and answers or throws what came of the statements. */
  #settle<T>(client: PoolClient, settled: PromiseSettledResult<T>[], writing = false): T[] {
    const failed = settled.findIndex(({ status }) => status === 'rejected');
    if (failed < 0) {
      client.release();
      return settled.map((one) => (one as PromiseFulfilledResult<T>).value);
    }
    const { reason } = settled[failed] as PromiseRejectedResult;
    // Whoever does not hear of the end of a transaction may still be in it.
    const isOver = settled.at(-1)?.status === 'fulfilled';
    client.release(!isOver || !settled.every((one) => one.status === 'fulfilled' || isServerError(one.reason)));
    throw this.#fault(writing ? new WriteFailed(reason, stageOf(settled, failed)) : reason);
  }

  #fault(thrown: unknown): Fault {
    return mapError(thrown, this.where, this.#options.use);
  }

  /**
   * What the database has set for its transactions must not matter. Under another isolation a statement would not see what was committed
   * while it waited for the lock. A server that is set to be read-only is meant to be. No setting outlives its transaction, for a pooler
   * may give the next one to somebody else.
   */
  #begin(msMax: number, more = '', isolation = 'READ COMMITTED'): Statement {
    const { lockTimeoutMs } = this.#options;
    const bounds = {
      lock_timeout: lockTimeoutMs,
      idle_in_transaction_session_timeout: lockTimeoutMs,
      statement_timeout: msMax,
    };
    const set = Object.entries(bounds).map(([name, ms]) => `SET LOCAL ${name} = ${ms};`);
    return { text: `BEGIN ISOLATION LEVEL ${isolation}; ${set.join(' ')} ${more}`, values: [] };
  }
}

const COMMIT: Statement = { text: 'COMMIT', values: [] };

/** A server may be set to answer before it has synced; `remote_apply` and its like promise more than `on`, and stay. */
const DURABLE = `SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`;

/** Without its BEGIN a statement that the server did not refuse was stored by itself. */
function stageOf(settled: readonly PromiseSettledResult<unknown>[], failed: number): WriteStage {
  if (failed === settled.length - 1) return 'commit';
  const begin = settled[0] as PromiseSettledResult<unknown>;
  if (begin.status === 'fulfilled' || endsSession(begin.reason)) return 'transaction';
  const isRefused = settled.slice(1, -1).every((one) => one.status === 'rejected' && isServerError(one.reason));
  return isRefused ? 'transaction' : 'loose';
}

function transact<Row extends unknown[]>(
  client: PoolClient,
  statements: readonly Statement[],
  silenceMsMax: number,
): Promise<PromiseSettledResult<Row[]>[]> {
  const { stream } = (client as unknown as pg.Client).connection;
  // Else each statement is a packet.
  stream.cork();
  const sent = statements.map((statement) => run<Row>(client, statement, silenceMsMax));
  stream.uncork();
  return Promise.allSettled(sent);
}

async function run<Row extends unknown[]>(
  client: PoolClient,
  { text, values }: Statement,
  silenceMsMax: number,
): Promise<Row[]> {
  const query = { text, values: [...values], rowMode: 'array' as const, query_timeout: silenceMsMax };
  return (await client.query<Row>(query)).rows;
}
