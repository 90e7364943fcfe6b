import { createHash } from 'node:crypto';
import type { PostgresConnection } from '@tidemark/libs-driver-postgres';

/** Before a stream's id, which may be anything. Postgres takes payloads of less than 8000 bytes, and no stream's id is as long. */
export const NAMED = '=';

const NOTIFY = `SELECT pg_notify($1, stream) FROM unnest($2::text[]) AS told (stream)`;

/** Databases are shared by schemas, so each schema has a channel of its own. A channel's name has at most 63 bytes. */
export async function channelOf(connection: PostgresConnection): Promise<string> {
  const text = `SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = to_regclass('stream_ops')`;
  const [row] = await connection.read<[string]>({ text, values: [] });
  return `tidemark_${createHash('sha256')
    .update(row?.[0] ?? '')
    .digest('hex')
    .slice(0, 32)}`;
}

/**
 * Tells listeners which streams took an append, after it has committed, and joins what is to be told while it tells.
 *
 * Not in the append's own transaction: Postgres lets one notifying transaction commit at a time in the whole database, its wait for the
 * disk included, which would end group commit. A process that dies in between leaves a hint unsaid, and readers poll.
 */
export class Announcer {
  readonly #connection: PostgresConnection;
  readonly #channel: string;
  #waiting = new Set<string>();
  #telling = false;

  constructor(connection: PostgresConnection, channel: string) {
    this.#connection = connection;
    this.#channel = channel;
  }

  announce(stream: string): void {
    this.#waiting.add(NAMED + stream);
    if (!this.#telling) void this.#tell();
  }

  async #tell(): Promise<void> {
    this.#telling = true;
    while (this.#waiting.size > 0) {
      const payloads = [...this.#waiting];
      this.#waiting = new Set();
      // A hint that cannot be given is not given.
      await this.#connection.read({ text: NOTIFY, values: [this.#channel, payloads] }).catch(() => {});
    }
    this.#telling = false;
  }
}
