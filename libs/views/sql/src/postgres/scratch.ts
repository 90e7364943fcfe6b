import { randomUUID } from 'node:crypto';
import type { Views } from '@tidemark/libs-views-contract';
import pg from 'pg';
import { type PostgresViewsOptions, connectPostgresViews } from './connect.ts';

/** A schema of its own in a server, for one test or more, with whatever was opened on it. */
export class Scratch {
  readonly name = `scratch_${randomUUID().replaceAll('-', '')}`;
  readonly url: string;
  readonly #endpoint: string;
  #made = false;
  #opened: { close(): Promise<void> }[] = [];
  #clients: pg.Client[] = [];

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
    const url = new URL(endpoint);
    url.searchParams.set('sslmode', 'disable');
    url.searchParams.set('options', `-c search_path=${this.name}`);
    this.url = url.href;
  }

  static async make(endpoint: string): Promise<Scratch> {
    const scratch = new Scratch(endpoint);
    await scratch.#once(`CREATE SCHEMA ${scratch.name}`);
    return scratch;
  }

  async open(options: Partial<PostgresViewsOptions> = {}): Promise<Views> {
    const views = await connectPostgresViews({ url: this.url, poolMax: 4, warn: () => {}, ...options });
    this.#opened.push(views);
    return views;
  }

  /** A connection past the adapter. */
  async client(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => {});
    await client.connect();
    this.#clients.push(client);
    return client;
  }

  /** Each row as its cells, joined. */
  async look(sql: string): Promise<string[]> {
    const client = await this.client();
    const { rows } = await client.query({ text: sql, rowMode: 'array' });
    return rows.map((cells: unknown[]) => cells.join(' '));
  }

  /** Closes what was opened, and removes every row. */
  async empty(): Promise<void> {
    await this.closeAll();
    if (!this.#made) await (await this.open()).close();
    this.#made = true;
    await (await this.client()).query('DELETE FROM view_cells; DELETE FROM view_marks; DELETE FROM view_parked');
  }

  async closeAll(): Promise<void> {
    const [opened, clients] = [this.#opened, this.#clients];
    [this.#opened, this.#clients] = [[], []];
    await Promise.all([...opened.map((views) => views.close()), ...clients.map((client) => client.end())]);
  }

  async remove(): Promise<void> {
    await this.closeAll();
    await this.#once(`DROP SCHEMA ${this.name} CASCADE`);
  }

  async #once(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.#endpoint });
    client.on('error', () => {});
    await client.connect();
    await client.query(sql);
    await client.end();
  }
}
