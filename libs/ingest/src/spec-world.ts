import type { PublishOptions, PublishOutcome, Topic } from '@tidemark/libs-broker-contract';
import { MemoryBroker, ScriptedBroker, type ScriptedEnd } from '@tidemark/libs-broker-contract/testing';
import type { DedupeKey } from '@tidemark/libs-dedupe-contract';
import { MemoryDedupeStore, MemoryDeduplicator, ScriptedDeduplicator } from '@tidemark/libs-dedupe-contract/testing';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { type EventEnvelope, decodeEvent } from '@tidemark/libs-wire';
import { type IngestParts, IngestService } from './ingest-service.ts';
import type { RecordEvent } from './observe.ts';
import { defaultTables } from './tables.ts';

export const LEASE_MS = 30_000;

/** What a test looks at in an answer. */
export interface Told {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // The answers are JSON of many shapes; tests name the members they mean.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

export interface Post {
  readonly table?: string;
  readonly tenant?: string;
  readonly type?: string;
}

/** An ingest service on memory models whose time stands still, for this package's own tests. */
export class IngestWorld {
  readonly time = new ManualTime();
  readonly store = new MemoryDedupeStore({ clock: this.time, random: new SeededRandom(1) });
  readonly dedupe = new ScriptedDeduplicator(new MemoryDeduplicator(this.store));
  readonly counts: Partial<Record<RecordEvent, number>> = {};
  readonly lines: string[] = [];
  /** What else was counted, in words. */
  readonly details: string[] = [];
  readonly windowsMs: number[] = [];
  readonly service: IngestService;
  readonly broker: ScriptedBroker;
  readonly #queues = new InterruptedBroker({ clock: this.time, sleeper: this.time });
  readonly #opened: Promise<unknown>;
  #readers = 0;

  constructor(parts: Partial<IngestParts> = {}) {
    const line = (level: string) => (_fields: object, message: string) => void this.lines.push(`${level}: ${message}`);
    const tables = parts.tables ?? defaultTables;
    this.broker = new ScriptedBroker(this.#queues);
    this.#opened = Promise.all(tables.tenants().map((tenant) => this.broker.openQueue(tenant, 1n << 30n)));
    this.service = new IngestService({
      deduplicator: this.dedupe,
      broker: this.broker,
      tables,
      clock: this.time,
      leaseMs: LEASE_MS,
      log: { info: line('info'), warn: line('warn'), error: line('error') },
      metrics: {
        count: (event, _tenant, _table, n) => void (this.counts[event] = (this.counts[event] ?? 0) + n),
        rejected: (reason, tenant, table, n) => void this.details.push(`${n} ${tenant}/${table} rejected: ${reason}`),
        published: (outcome, tenant, table, n) =>
          void this.details.push(`${n} ${tenant}/${table} published: ${outcome}`),
        window: (ms) => void this.windowsMs.push(ms),
      },
      ...parts,
    });
  }

  /** The publish that comes as number `nth` from now (1 = the next one) ends so. */
  endPublish(nth: number, kind: ScriptedEnd['kind'], stored = false): void {
    this.broker.endPublish(nth, { kind, stored });
  }

  /** What happens before the publish that comes as number `nth` from now reaches its queue. */
  beforePublish(nth: number, work: () => Promise<void>): void {
    this.#queues.interruptions.set(this.#queues.publishes + nth, work);
  }

  async post(body: string | Uint8Array, post: Post = {}): Promise<Told> {
    await this.#opened;
    const { table = 'events', tenant, type = 'application/json' } = post;
    const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
    const request = { tenant, table, contentType: type, body: bytes, receivedMs: this.time.now() };
    const answer = await this.service.ingest(request);
    return { status: answer.status, headers: answer.headers, body: JSON.parse(answer.body) };
  }

  /** Everything that is stored, tenant by tenant, in queue order. */
  async queued(): Promise<EventEnvelope[]> {
    const events: EventEnvelope[] = [];
    // A consumer of a new name begins at the oldest message, and nothing is acked: looking changes nothing.
    const reader = { name: `reader ${++this.#readers}`, ackWaitMs: LEASE_MS };
    for (const tenant of await this.broker.queues()) {
      const consumer = await this.broker.consume(tenant, reader);
      for (;;) {
        const deliveries = await consumer.fetch(1000, 0);
        if (deliveries.length === 0) break;
        events.push(...deliveries.map(({ body }) => decodeEvent(body)));
      }
    }
    return events;
  }

  async queuedIds(): Promise<(string | null)[]> {
    return (await this.queued()).map(({ id }) => id);
  }
}

/** A memory broker into whose publishes a test can step. */
class InterruptedBroker extends MemoryBroker {
  readonly interruptions = new Map<number, () => Promise<void>>();
  publishes = 0;

  override async publish(topic: Topic, body: Uint8Array, options: PublishOptions = {}): Promise<PublishOutcome> {
    await this.interruptions.get(++this.publishes)?.();
    return super.publish(topic, body, options);
  }
}

export const key = (id: string): DedupeKey => ({ tenant: '0', table: 'events', id });

/** Records with the ids `1` to `count`, one per line. */
export const ndjson = (count: number): string =>
  Array.from({ length: count }, (_, i) => `{"event_id":"${i + 1}","n":${i}}\n`).join('');

export const NDJSON: Post = { type: 'application/x-ndjson' };
