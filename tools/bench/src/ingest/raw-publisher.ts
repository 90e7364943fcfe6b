import { type JetStreamClient, type NatsConnection, StorageType, connect } from 'nats';
import type { Records } from './records.ts';

const STREAM = 'bench_raw';
const SUBJECT = 'bench.raw';

/** JetStream as it is: publishes with message ids, so many in flight, from one connection. No HTTP, no dedupe store, no envelope. */
export class RawPublisher {
  readonly #nats: NatsConnection;
  readonly #client: JetStreamClient;

  private constructor(nats: NatsConnection) {
    this.#nats = nats;
    this.#client = nats.jetstream();
  }

  static async open(servers: string): Promise<RawPublisher> {
    const nats = await connect({ servers });
    const manager = await nats.jetstreamManager();
    await manager.streams.add({ name: STREAM, subjects: [SUBJECT], storage: StorageType.File });
    return new RawPublisher(nats);
  }

  /** Answers records a second. */
  async send(records: Records, count: number, inFlight: number): Promise<number> {
    const startMs = performance.now();
    let left = count;
    const lane = async (): Promise<void> => {
      while (left-- > 0) {
        const text = records.one(0);
        await this.#client.publish(SUBJECT, text, { msgID: text.slice(13, 28) });
      }
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
    return count / ((performance.now() - startMs) / 1000);
  }

  ids(): Promise<string[]> {
    return idsOf(this.#nats, STREAM, (text) => (JSON.parse(text) as { event_id: string }).event_id);
  }

  /** Ids of the events that the ingest service stored. */
  eventIds(): Promise<string[]> {
    return idsOf(this.#nats, 'tidemark_INGEST_0', (text) => (JSON.parse(text) as { id: string }).id);
  }

  close(): Promise<void> {
    return this.#nats.close();
  }
}

async function idsOf(nats: NatsConnection, stream: string, idIn: (text: string) => string): Promise<string[]> {
  const manager = await nats.jetstreamManager();
  const { state } = await manager.streams.info(stream);
  const ids: string[] = [];
  if (state.messages === 0) return ids;
  const consumer = await nats.jetstream().consumers.get(stream);
  const messages = await consumer.consume({ max_messages: 1000 });
  for await (const message of messages) {
    ids.push(idIn(message.string()));
    if (ids.length === state.messages) break;
  }
  return ids;
}
