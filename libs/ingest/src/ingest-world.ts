import type { Broker, PublishOutcome } from '@tidemark/libs-broker-contract';
import { type DedupeKey } from '@tidemark/libs-dedupe-contract';
import { MemoryDedupeStore, MemoryDeduplicator, ScriptedDeduplicator } from '@tidemark/libs-dedupe-contract/testing';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { type EventEnvelope, decodeEvent } from '@tidemark/libs-wire';
import { type IngestParts, IngestService } from './ingest-service.ts';
import type { RecordEvent } from './observe.ts';
import { QueueStandIn, asBroker } from './queue-stand-in.ts';
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
  readonly queue = new QueueStandIn(this.time);
  readonly counts: Partial<Record<RecordEvent, number>> = {};
  readonly lines: string[] = [];
  readonly service: IngestService;
  publishes = 0;
  readonly #planned = new Map<number, () => Promise<PublishOutcome | 'pass'>>();

  constructor(parts: Partial<IngestParts> = {}) {
    const line = (level: string) => (_fields: object, message: string) => void this.lines.push(`${level}: ${message}`);
    this.service = new IngestService({
      deduplicator: this.dedupe,
      broker: this.#planningBroker(),
      tables: defaultTables,
      clock: this.time,
      leaseMs: LEASE_MS,
      log: { info: line('info'), warn: line('warn'), error: line('error') },
      metrics: { count: (event, _tenant, _table, n) => void (this.counts[event] = (this.counts[event] ?? 0) + n) },
      ...parts,
    });
  }

  /** The publish that comes as number `nth` from now (1 = the next one) has this outcome; nothing of it reaches the queue. */
  failPublish(nth: number, kind: 'full' | 'too_large' | 'unavailable' | 'unknown'): void {
    this.#planned.set(this.publishes + nth, async () => ({ kind, detail: 'told to fail' }));
  }

  /** The queue stores the event, and its answer is lost. */
  loseAnswer(nth: number, kind: 'unavailable' | 'unknown' = 'unknown'): void {
    this.#lose.set(this.publishes + nth, kind);
  }

  readonly #lose = new Map<number, 'unavailable' | 'unknown'>();

  /** What happens before the publish that comes as number `nth` reaches the queue. */
  beforePublish(nth: number, work: () => Promise<void>): void {
    this.#planned.set(this.publishes + nth, () => work().then(() => 'pass'));
  }

  async post(
    body: string | Uint8Array,
    { table = 'events', tenant, type = 'application/json' }: Post = {},
  ): Promise<Told> {
    const answer = await this.service.ingest({
      tenant,
      table,
      contentType: type,
      body: typeof body === 'string' ? Buffer.from(body, 'utf8') : body,
      receivedMs: this.time.now(),
    });
    return { status: answer.status, headers: answer.headers, body: JSON.parse(answer.body) };
  }

  /** Everything in the queue, in its order. */
  async queued(): Promise<EventEnvelope[]> {
    return this.queue.stored.map(({ body }) => decodeEvent(body));
  }

  async queuedIds(): Promise<(string | null)[]> {
    return (await this.queued()).map(({ id }) => id);
  }

  #planningBroker(): Broker {
    const publish: Broker['publish'] = async (topic, body, options) => {
      const nth = ++this.publishes;
      const outcome = await (this.#planned.get(nth)?.() ?? 'pass');
      if (outcome !== 'pass') return outcome;
      const stored = await this.queue.publish(topic, body, options);
      const lost = this.#lose.get(nth);
      return lost === undefined ? stored : { kind: lost, detail: 'answer lost' };
    };
    return asBroker(Object.assign(Object.create(this.queue), { publish }));
  }
}

/** The key of the record that `ndjson` gives number `i`. */
export const key = (id: string, table = 'events', tenant = '0'): DedupeKey => ({ tenant, table, id });

/** Records with the ids `1` to `count`, one per line. */
export const ndjson = (count: number): string =>
  Array.from({ length: count }, (_, i) => `{"event_id":"${i + 1}","n":${i}}\n`).join('');

export const NDJSON: Post = { type: 'application/x-ndjson' };
