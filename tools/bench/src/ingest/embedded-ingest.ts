import { strict as assert } from 'node:assert';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Broker } from '@tidemark/libs-broker-contract';
import { connectEmbeddedBroker } from '@tidemark/libs-broker-embedded';
import { connectEmbeddedDeduplicator } from '@tidemark/libs-dedupe-embedded';
import { type IngestParts, IngestService, defaultTables } from '@tidemark/libs-ingest';

const TENANT = '0';
const RECORD_BYTES = 200;
const LEASE_MS = 30_000;

const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const sleeper = { sleep: (ms: number, signal?: AbortSignal) => wait(ms, undefined, { signal }).catch(() => {}) };
const random = { bytes: (n: number) => randomBytes(n), fraction: () => Math.random() };

/** An ingest service on the embedded stores in a folder of its own. */
export class EmbeddedIngest {
  readonly #service: IngestService;
  readonly #broker: Broker;
  readonly #close: () => Promise<void>;
  readonly #sent: string[] = [];

  private constructor(service: IngestService, broker: Broker, close: () => Promise<void>) {
    this.#service = service;
    this.#broker = broker;
    this.#close = close;
  }

  static async open(parts: Pick<IngestParts, 'publishesInFlightMax' | 'windowRecordsMax'>): Promise<EmbeddedIngest> {
    const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-bench-'));
    for (const name of ['queue', 'dedupe']) mkdirSync(path.join(folder, name));
    const world = { clock, sleeper, random };
    const broker = await connectEmbeddedBroker({ folder: path.join(folder, 'queue'), ...world });
    const deduplicator = await connectEmbeddedDeduplicator({ folder: path.join(folder, 'dedupe'), ...world });
    await broker.openQueue(TENANT, 1n << 40n);
    const service = new IngestService({
      deduplicator,
      broker,
      tables: defaultTables,
      clock,
      leaseMs: LEASE_MS,
      ...parts,
    });
    return new EmbeddedIngest(service, broker, async () => {
      await deduplicator.close();
      await broker.close();
      rmSync(folder, { recursive: true });
    });
  }

  /** Every record of it is new. */
  async batch(records: number): Promise<void> {
    const ids = Array.from({ length: records }, () => randomUUID());
    const body = Buffer.from(ids.map(lineOf).join(''));
    const request = { tenant: undefined, table: 'events', contentType: 'application/x-ndjson' };
    const answer = await this.#service.ingest({ ...request, body, receivedMs: Date.now() });
    assert.equal(answer.status, 200, answer.body);
    assert.equal((JSON.parse(answer.body) as { succeeded: number }).succeeded, records);
    this.#sent.push(...ids);
  }

  /** Answers how many events stand in the queue, each once and in the order in which it was sent. */
  async verify(): Promise<number> {
    const consumer = await this.#broker.consume(TENANT, { name: 'verify', ackWaitMs: 60_000 });
    let count = 0;
    for (;;) {
      const deliveries = await consumer.fetch(1000, 0);
      if (deliveries.length === 0) break;
      for (const { body } of deliveries) {
        const { id } = JSON.parse(Buffer.from(body).toString()) as { id: string };
        assert.equal(id, this.#sent[count++]);
      }
    }
    assert.equal(count, this.#sent.length);
    return count;
  }

  close(): Promise<void> {
    return this.#close();
  }
}

function lineOf(id: string): string {
  const line = `{"event_id":"${id}","note":""}\n`;
  return line.replace('""', `"${'v'.repeat(RECORD_BYTES - line.length)}"`);
}
