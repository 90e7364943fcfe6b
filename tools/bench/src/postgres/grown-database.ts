import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { connectPostgres } from '@tidemark/libs-op-store-sql/postgres';
import pg from 'pg';

const FILL = `
  INSERT INTO stream_ops (stream_id, seq, envelope_version, op_id, lamport, site, domain, target_kind, target_id, field, op_type, value, author, wall_clock, extra)
  SELECT $1, $2::bigint + n - 1, 1, $1 || '-' || lpad(($2::bigint + n)::text, 24, '0'), n, 7203685477580712345, 'task', 'item', 'i', 'title', 'set', repeat('v', 60), 'bob', '', '{}'
  FROM generate_series(1, $3::bigint) n`;

/** A schema of its own with many ops in 's', burned seqs in 'gap' between two, and none in 'dense'. */
export class GrownDatabase {
  readonly opStore: OpStore;

  private constructor(opStore: OpStore) {
    this.opStore = opStore;
  }

  static async make(
    endpoint: string,
    size: number,
    burned: number,
    time: { clock: Clock; sleeper: Sleeper },
  ): Promise<GrownDatabase> {
    const url = new URL(endpoint);
    url.searchParams.set('options', `-c search_path=grown_${size}`);
    const client = new pg.Client({ connectionString: url.href });
    await client.on('error', () => {}).connect();
    await client.query(`CREATE SCHEMA grown_${size}`);
    const { opStore } = await connectPostgres({
      url: url.href,
      ...time,
      random: new SeededRandom(1),
      warn: console.error,
    });
    await client.query(FILL, ['s', 1, size]);
    for (const [stream, first, many] of [
      ['gap', 1, 1],
      ['gap', burned + 2, 1],
      ['dense', 1, 2],
    ])
      await client.query(FILL, [stream, first, many]);
    // As autovacuum leaves it, not while it works.
    await client.query('VACUUM ANALYZE stream_ops');
    await client.query('CHECKPOINT');
    await client.end();
    return new GrownDatabase(opStore);
  }

  /** The rows go with the server, which was started for them. */
  async remove(): Promise<void> {
    await this.opStore.close();
  }
}
