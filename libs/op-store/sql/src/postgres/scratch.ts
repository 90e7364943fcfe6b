import { randomUUID } from 'node:crypto';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import pg from 'pg';
import { connectPostgres, type PostgresOptions, type PostgresStores } from './connect.ts';

/** A schema of its own in a server, for one test, with whatever was opened on it. */
export class Scratch {
  readonly schema = `scratch_${randomUUID().replaceAll('-', '')}`;
  readonly url: string;
  readonly time = new ManualTime();
  readonly warnings: string[] = [];
  readonly #endpoint: string;
  readonly #opened: PostgresStores[] = [];
  readonly #clients: pg.Client[] = [];

  constructor(endpoint: string) {
    const url = new URL(endpoint);
    url.searchParams.set('options', `-c search_path=${this.schema}`);
    this.url = url.href;
    this.#endpoint = endpoint;
  }

  async make(): Promise<this> {
    await this.#once(`CREATE SCHEMA ${this.schema}`);
    return this;
  }

  async open(options: Partial<PostgresOptions> = {}): Promise<PostgresStores> {
    const { url, time } = this;
    const warn = (message: string): void => void this.warnings.push(message);
    const random = new SeededRandom(this.#opened.length);
    const stores = await connectPostgres({ url, clock: time, sleeper: time, random, warn, poolMax: 4, ...options });
    this.#opened.push(stores);
    return stores;
  }

  /** A connection past the adapter. */
  async client(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => {});
    await client.connect();
    this.#clients.push(client);
    return client;
  }

  async remove(): Promise<void> {
    await Promise.all([
      ...this.#opened.map((stores) => stores.close()),
      ...this.#clients.map((client) => client.end()),
    ]);
    await this.#once(`DROP SCHEMA IF EXISTS ${this.schema} CASCADE`);
  }

  async #once(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.#endpoint });
    client.on('error', () => {});
    await client.connect();
    await client.query(sql);
    await client.end();
  }
}
