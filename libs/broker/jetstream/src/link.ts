import { type Clock, Fault, type Sleeper } from '@tidemark/libs-kernel';
import { type ConnectionOptions, Events, type NatsConnection, type Status, connect } from 'nats';
import { ConnectionLost, NoAnswer, isSilence, throwFault } from './map-error.ts';

export interface BrokerLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface LinkParts {
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly log: BrokerLog;
}

/** Between two attempts. Without jitter: requests that wait together go on in their order. */
const RETRY_DELAY_MS = 250;

/** The connection of this process. The client reconnects for ever; what was under way when it broke is asked again here. */
export class Link {
  readonly connection: NatsConnection;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly #log: BrokerLog;
  readonly #underWay = new Set<(reason: Error) => void>();
  readonly #waiting = new Set<AbortController>();
  #connected = true;
  #closed = false;

  private constructor(connection: NatsConnection, { clock, sleeper, log }: LinkParts) {
    this.connection = connection;
    this.clock = clock;
    this.sleeper = sleeper;
    this.#log = log;
    void this.#follow();
    void connection.closed().then((error) => this.#ended(error));
  }

  static async open(options: ConnectionOptions, parts: LinkParts): Promise<Link> {
    return new Link(await connect(options).catch(throwFault), parts);
  }

  get isConnected(): boolean {
    return this.#connected && !this.#closed;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  checkOpen(): void {
    if (this.#closed) throw new Fault('unavailable', 'the broker is closed');
  }

  /**
   * Asks until somebody answers, for `patienceMs`; throws the refusal, or NoAnswer. `send` is called once for each attempt, the first time before
   * this returns when there is a connection, so that calls keep their order; it must be safe to repeat.
   */
  async ask<T>(send: () => Promise<T>, patienceMs: number): Promise<T> {
    const endsAtMs = this.clock.monotonic() + patienceMs;
    for (;;) {
      const silence = await this.#attempt(send, endsAtMs);
      if (!(silence instanceof Silence)) return silence;
      if (this.#closed || this.clock.monotonic() + RETRY_DELAY_MS >= endsAtMs) throw silence.reason;
      await this.sleeper.sleep(RETRY_DELAY_MS);
    }
  }

  /** Rejects when the connection breaks before the promise has an end. */
  async unlessLost<T>(promise: Promise<T>): Promise<T> {
    const lost = Promise.withResolvers<never>();
    this.#underWay.add(lost.reject);
    try {
      return await Promise.race([promise, lost.promise]);
    } finally {
      this.#underWay.delete(lost.reject);
    }
  }

  /** Whether there is a connection, waiting for one. */
  async connected(waitMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.isConnected || this.#closed || waitMs <= 0) return this.isConnected;
    const came = new AbortController();
    this.#waiting.add(came);
    await this.sleeper.sleep(waitMs, signal ? AbortSignal.any([came.signal, signal]) : came.signal);
    this.#waiting.delete(came);
    return this.isConnected;
  }

  /** What was sent before is with the server. */
  async flush(): Promise<void> {
    await this.unlessLost(this.connection.flush());
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const came of this.#waiting) came.abort();
    await this.connection.close();
  }

  async #attempt<T>(send: () => Promise<T>, endsAtMs: number): Promise<T | Silence> {
    try {
      if (this.isConnected || (await this.connected(endsAtMs - this.clock.monotonic())))
        return await this.unlessLost(send());
      return new Silence(new NoAnswer(this.#closed ? 'the broker is closed' : 'no connection'));
    } catch (thrown) {
      if (isSilence(thrown)) return new Silence(thrown as Error);
      throw thrown;
    }
  }

  async #follow(): Promise<void> {
    for await (const status of this.connection.status()) this.#heard(status);
  }

  #heard({ type, data }: Status): void {
    if (type === Events.Disconnect) this.#broken();
    if (type === Events.Reconnect) this.#restored();
    if (type === Events.Error) this.#log.warn({ error: data }, 'the broker reports an error');
  }

  #broken(): void {
    if (this.#connected && !this.#closed) this.#log.warn({}, 'the connection to the broker broke');
    this.#connected = false;
    for (const reject of [...this.#underWay]) reject(new ConnectionLost('the connection broke'));
  }

  /** The client gives up by itself only when it cannot speak to a server at all, such as one that has no TLS any more. */
  #ended(error: Error | void): void {
    this.#broken();
    if (!this.#closed) this.#log.warn({ err: error }, 'the connection to the broker ended for good: start anew');
  }

  #restored(): void {
    this.#log.info({}, 'connected to the broker again');
    this.#connected = true;
    for (const came of [...this.#waiting]) came.abort();
  }
}

/** An attempt without an answer, apart from answers that are errors. */
class Silence {
  readonly reason: Error;

  constructor(reason: Error) {
    this.reason = reason;
  }
}
