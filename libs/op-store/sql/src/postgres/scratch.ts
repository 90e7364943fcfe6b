import { randomUUID } from 'node:crypto';
import { openPool, parseAddress, PostgresConnection } from '@tidemark/libs-driver-postgres';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import pg from 'pg';
import { CHANGED } from './changes.ts';
import { connectPostgres, type PostgresOptions, type PostgresStores } from './connect.ts';
import { ABOVE } from './read.ts';
import { HEAD, LIST } from './streams.ts';
import { OPS } from './use.ts';

/** A schema of its own in a server, or a database, for one test or more, with whatever was opened on it. */
export class Scratch {
  readonly name = `scratch_${randomUUID().replaceAll('-', '')}`;
  readonly time = new ManualTime();
  readonly warnings: string[] = [];
  readonly #endpoint: string;
  #url: URL;
  #kind: 'SCHEMA' | 'DATABASE' = 'SCHEMA';
  #made = false;
  #opened: { close(): Promise<void> }[] = [];
  #clients: pg.Client[] = [];

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
    this.#url = new URL(endpoint);
    this.#url.searchParams.set('sslmode', 'disable');
    this.#url.searchParams.set('options', `-c search_path=${this.name}`);
  }

  static async inDatabase(endpoint: string): Promise<Scratch> {
    const scratch = new Scratch(endpoint);
    scratch.#kind = 'DATABASE';
    scratch.#url.searchParams.delete('options');
    scratch.#url.pathname = `/${scratch.name}`;
    return scratch.make();
  }

  async make(): Promise<this> {
    await this.#once(`CREATE ${this.#kind} ${this.name}`);
    return this;
  }

  get url(): string {
    return this.#url.href;
  }

  /** The same database by another way in. */
  through(endpoint: string): string {
    const url = new URL(this.url);
    url.port = new URL(endpoint).port;
    return url.href;
  }

  async open(options: Partial<PostgresOptions> = {}): Promise<PostgresStores> {
    const { url, time } = this;
    const warn = (message: string): void => void this.warnings.push(message);
    const random = new SeededRandom(this.#opened.length);
    const stores = await connectPostgres({ url, clock: time, sleeper: time, random, warn, poolMax: 4, ...options });
    this.#opened.push(stores);
    return stores;
  }

  /** What the ports are made of, on tables that are there. */
  async connection(): Promise<PostgresConnection> {
    await (await this.open()).close();
    const { dataSource, pool } = await openPool(parseAddress(this.url), false, {
      use: OPS,
      poolMax: 1,
      acquireTimeoutMs: 10_000,
    });
    const connection = new PostgresConnection({ where: 'here', use: OPS, lockTimeoutMs: 1000 }, dataSource, pool);
    this.#opened.push(connection);
    return connection;
  }

  /** A connection past the adapter. */
  async client(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => {});
    await client.connect();
    this.#clients.push(client);
    return client;
  }

  /** Closes what was opened, and removes every row. */
  async empty(): Promise<void> {
    await this.closeAll();
    if (!this.#made) await (await this.open()).close();
    this.#made = true;
    const tables = ['stream_ops', 'stream_changes', 'stream_erasures', 'prefix_claims', 'machine_presence'];
    await (await this.client()).query(tables.map((table) => `DELETE FROM ${table}`).join(';'));
  }

  async closeAll(): Promise<void> {
    const [opened, clients] = [this.#opened, this.#clients];
    [this.#opened, this.#clients] = [[], []];
    await Promise.all([...opened.map((stores) => stores.close()), ...clients.map((client) => client.end())]);
  }

  async remove(): Promise<void> {
    await this.closeAll();
    await this.#once(`DROP ${this.#kind} ${this.name} ${this.#kind === 'SCHEMA' ? 'CASCADE' : 'WITH (FORCE)'}`);
  }

  async #once(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.#endpoint });
    client.on('error', () => {});
    await client.connect();
    await client.query(sql);
    await client.end();
  }
}

/** How the server goes about the statements of reads, in a database with some ops. */
export async function plans(client: pg.Client): Promise<string[]> {
  // A table of a few rows is scanned, whatever indexes there are.
  await client.query('ANALYZE stream_ops; ANALYZE stream_changes; SET enable_seqscan = off; SET enable_sort = off');
  const snapshot = '1:1:';
  const asked: [string, unknown[]][] = [
    [ABOVE, ['a', 10n, 10, 1000]],
    [LIST, ['a', 10]],
    [CHANGED, [snapshot, '0', '', 10]],
    [`SELECT ${HEAD('$1')}`, ['a']],
  ];
  const found: string[] = [];
  for (const [text, values] of asked) {
    const { rows } = await client.query(`EXPLAIN ${text}`, values);
    found.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
  }
  return found;
}
