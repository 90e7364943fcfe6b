import { connectPostgres } from '@tidemark/libs-op-store-sql/postgres';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import pg from 'pg';
import { AckedLog } from './acked-log.ts';
import { freshOps, onAll, type Shape, type Writers } from './writers.ts';

const COLUMNS =
  'stream_id, seq, envelope_version, op_id, lamport, site, domain, target_kind, target_id, field, op_type, value, author, wall_clock, extra';

/** BEGIN, one INSERT of all rows, COMMIT. Nobody contends: each connection has a stream and knows its seqs. No lock, no look for repeats. */
export class RawWriters implements Writers {
  static readonly title = 'raw pg';
  readonly name = RawWriters.title;
  readonly #clients: readonly pg.Client[];
  readonly #shape: Shape;
  readonly #acked = new AckedLog();
  readonly #heads: bigint[];

  private constructor(clients: readonly pg.Client[], shape: Shape) {
    this.#clients = clients;
    this.#shape = shape;
    this.#heads = clients.map(() => 0n);
  }

  static async open(endpoint: string, shape: Shape): Promise<RawWriters> {
    const url = new URL(endpoint);
    url.searchParams.set('options', '-c search_path=raw');
    const clients = Array.from({ length: shape.connections }, () => new pg.Client({ connectionString: url.href }));
    for (const client of clients) await client.on('error', () => {}).connect();
    await (clients[0] as pg.Client).query('CREATE SCHEMA raw');
    const time = new ManualTime();
    const tables = { url: url.href, clock: time, sleeper: time, random: new SeededRandom(1), warn: console.error };
    await (await connectPostgres(tables)).close();
    return new RawWriters(clients, shape);
  }

  write(untilMs: number): Promise<number> {
    return onAll(this.#shape.connections, untilMs, (connection) => this.#transaction(connection));
  }

  verify(): Promise<number> {
    return this.#acked.verify((stream) => this.#read(stream));
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.end()));
  }

  async #transaction(connection: number): Promise<number> {
    const { batch } = this.#shape;
    const [client, stream, ops] = [this.#clients[connection] as pg.Client, `s${connection}`, freshOps(batch)];
    let seq = this.#heads[connection] as bigint;
    const cells: unknown[] = [];
    const rows = ops.map((op) => {
      const { envelopeVersion, opId, lamport, site, domain, targetKind, targetId, field, opType } = op;
      const row = [stream, ++seq, envelopeVersion, opId, lamport, site, domain, targetKind, targetId, field, opType];
      row.push(op.value as string, op.author, op.wallClock, op.extra);
      return `(${row.map((cell) => `$${cells.push(cell)}`).join()})`;
    });
    await client.query('BEGIN');
    await client.query(`INSERT INTO stream_ops (${COLUMNS}) VALUES ${rows.join()}`, cells);
    await client.query('COMMIT');
    this.#heads[connection] = seq;
    this.#acked.note(
      stream,
      ops.map(({ opId }) => opId),
      seq,
    );
    return batch;
  }

  async *#read(stream: string): AsyncIterable<readonly [bigint, string]> {
    const client = this.#clients[0] as pg.Client;
    const { rows } = await client.query('SELECT seq, op_id FROM stream_ops WHERE stream_id = $1 ORDER BY seq', [
      stream,
    ]);
    for (const { seq, op_id } of rows) yield [BigInt(seq), op_id];
  }
}
