/** Reads a queue's stream back with a connection of its own: what is really there, whatever the broker said. */
import { connect } from 'nats';
import { keyOf } from './headers.ts';
import { baseOf } from './places.ts';

export interface Stored {
  readonly seq: bigint;
  readonly key: string | null;
  readonly text: string;
}

export async function storedIn(servers: string | readonly string[], stream: string): Promise<Stored[]> {
  const connection = await connect({ servers: typeof servers === 'string' ? servers : [...servers] });
  try {
    const client = connection.jetstream();
    const { state, created } = await (await client.jetstreamManager(false)).streams.info(stream);
    if (state.messages === 0) return [];
    const stored: Stored[] = [];
    const consumer = await client.consumers.get(stream);
    for await (const message of await consumer.fetch({ max_messages: state.messages, expires: 10_000 }))
      stored.push({ seq: baseOf(created) + BigInt(message.seq), key: keyOf(message.headers), text: message.string() });
    return stored;
  } finally {
    await connection.close();
  }
}
