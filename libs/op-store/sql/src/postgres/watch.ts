import type { PostgresConnection } from '@tidemark/libs-driver-postgres';
import { backoffMs, type Random, type Sleeper } from '@tidemark/libs-kernel';
import type { AppendWatch } from '@tidemark/libs-op-store-contract';
import pg, { type Client, type ClientConfig } from 'pg';
import { NAMED } from './announcer.ts';
import { changes, position } from './changes.ts';

export interface WatchOptions {
  readonly connection: PostgresConnection;
  readonly channel: string;
  /** Of the connection that listens, which is none of the pool's. */
  readonly client: ClientConfig;
  readonly sleeper: Sleeper;
  readonly random: Random;
  warn(message: string): void;
}

/** A pooler that gives each transaction another server connection loses what LISTEN should bring. */
const PROOF_MS_MAX = 5000;
const PROOF = '?';

const RECONNECT = { baseMs: 100, ceilingMs: 10_000 };
const PAGE_STREAMS = 1000;

/**
 * Listens on a connection of its own, which is made anew when it breaks. What was missed meanwhile is found by looking
 * for changes.
 */
export class ListeningWatch implements AppendWatch {
  readonly #options: WatchOptions;
  readonly #onAppend: (stream: string) => void;
  readonly #closed = new AbortController();
  #client: Client | undefined;
  /** Whatever changed before it was told. */
  #position = '';
  #looking = false;
  #lookAgain = false;

  private constructor(options: WatchOptions, onAppend: (stream: string) => void) {
    this.#options = options;
    this.#onAppend = onAppend;
  }

  /** null when messages do not come through. */
  static async open(options: WatchOptions, onAppend: (stream: string) => void): Promise<AppendWatch | null> {
    const watch = new ListeningWatch(options, onAppend);
    watch.#position = await position(options.connection);
    let isHeard = false;
    try {
      isHeard = await watch.#listen();
    } finally {
      if (!isHeard) await watch.close();
    }
    if (isHeard) return watch;
    options.warn(
      `${options.connection.where} does not pass on LISTEN, as poolers in transaction mode do not: appends of other processes are found by polling`,
    );
    return null;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  /** Connects, listens, and proves that a message sent through the pool comes back. Leaves no connection when it throws. */
  async #listen(): Promise<boolean> {
    const client = new pg.Client(this.#options.client);
    this.#client = client;
    const proof = `${PROOF}${Buffer.from(this.#options.random.bytes(8)).toString('hex')}`;
    const proved = new Promise<void>((resolve) => {
      client.on('notification', ({ payload = '' }) => (payload === proof ? resolve() : this.#hear(payload)));
    });
    client.on('error', () => {});
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    try {
      await client.connect();
      await client.query(`LISTEN ${this.#options.channel}`);
      const told = { text: 'SELECT pg_notify($1, $2)', values: [this.#options.channel, proof] };
      await this.#options.connection.read(told);
    } catch (thrown) {
      this.#client = undefined;
      // Not waited for: perhaps nobody is there to answer.
      void client.end().catch(() => {});
      throw thrown;
    }
    const isHeard = await this.#inTime(proved);
    // Not before: whoever called this tries again when it throws.
    void ended.then(() => void (this.#client === client && this.#reconnect()));
    return isHeard;
  }

  async #inTime(proved: Promise<void>): Promise<boolean> {
    const done = new AbortController();
    const late = this.#options.sleeper.sleep(PROOF_MS_MAX, AbortSignal.any([done.signal, this.#closed.signal]));
    const result = await Promise.race([proved.then(() => true), late.then(() => false)]);
    done.abort();
    return result;
  }

  async #reconnect(): Promise<void> {
    const { sleeper, random } = this.#options;
    const { signal } = this.#closed;
    for (let attempt = 0; !signal.aborted; attempt++) {
      await sleeper.sleep(backoffMs(attempt, RECONNECT, random), signal);
      if (signal.aborted) return;
      try {
        await this.#listen();
        return this.#look();
      } catch {
        // Tried again.
      }
    }
  }

  #hear(payload: string): void {
    if (payload.startsWith(NAMED)) this.#onAppend(payload.slice(NAMED.length));
  }

  #look(): void {
    this.#lookAgain = true;
    if (!this.#looking) void this.#lookOn();
  }

  async #lookOn(): Promise<void> {
    this.#looking = true;
    while (this.#lookAgain && !this.#closed.signal.aborted) {
      this.#lookAgain = false;
      // What cannot be found out is left to polling.
      await this.#tellChanges().catch(() => {});
    }
    this.#looking = false;
  }

  async #tellChanges(): Promise<void> {
    for (;;) {
      const page = await changes(this.#options.connection, this.#position, PAGE_STREAMS);
      for (const { stream } of page.changed) this.#onAppend(stream);
      if (page.position === this.#position) return;
      this.#position = page.position;
    }
  }
}
