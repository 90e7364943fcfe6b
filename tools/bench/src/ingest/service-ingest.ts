import { strict as assert } from 'node:assert';
import path from 'node:path';
import { IdleProcess } from '../idle/idle-process.ts';
import { Connection } from '../sqlite/connection.ts';

const root = path.resolve(import.meta.dirname, '../../../..');

/** The ingest service in a process of its own, as it is deployed, and connections that send it batches one after another. */
export class ServiceIngest {
  readonly #service: IdleProcess;
  readonly #connections: readonly Connection[];

  private constructor(service: IdleProcess, connections: readonly Connection[]) {
    this.#service = service;
    this.#connections = connections;
  }

  static async open(nats: string, connections: number): Promise<ServiceIngest> {
    const { bundle } = await import(path.join(root, 'tools/launcher/bundle.mjs'));
    await bundle('apps/ingest');
    const settings = { TIDEMARK_BROKER: 'nats', NATS_URL: nats, INGEST_QUEUE_BYTES: String(1 << 30) };
    const service = await IdleProcess.start(path.join(root, 'dist/apps/ingest/main.js'), settings);
    const open = Array.from({ length: connections }, () => Connection.open(service.url));
    return new ServiceIngest(service, await Promise.all(open));
  }

  /** Every connection sends its bodies; each record must come back as what is said. Answers records a second. */
  async send(bodies: readonly (readonly string[])[], as: 'succeeded' | 'duplicates'): Promise<number> {
    const startMs = performance.now();
    const counts = await Promise.all(
      this.#connections.map(async (connection, lane) => {
        let count = 0;
        for (const body of bodies[lane] as readonly string[]) {
          const answer = await connection.post('/v1/ingest?table=events', body, 'application/x-ndjson');
          assert.equal(answer.status, 200, answer.body.toString());
          const told = JSON.parse(answer.body.toString()) as Record<'total' | typeof as, number>;
          assert.equal(told[as], told.total);
          count += told.total;
        }
        return count;
      }),
    );
    return sum(counts) / ((performance.now() - startMs) / 1000);
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.close();
    await this.#service.stop();
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0);
