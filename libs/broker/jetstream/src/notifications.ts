import { createHash } from 'node:crypto';
import { type NotificationWatch, isTellable } from '@tidemark/libs-broker-contract';
import type { Sleeper } from '@tidemark/libs-kernel';
import type { Link } from './link.ts';
import { throwFault } from './map-error.ts';
import type { Names } from './names.ts';

/** What may wait for the end of one turn, or for a server that does not read; more is lost. */
const PENDING_BYTES_MAX = 1024 * 1024;
/** Servers of a cluster tell each other of a listener; ours can not say when all know. */
const CLUSTER_SETTLES_MS = 100;

interface Hint {
  readonly subject: string;
  readonly payload: string;
}

/** Hints between processes: told once to whoever listens, kept by nobody. The connection does not echo, so that nobody hears itself. */
export class Notifications {
  readonly #link: Link;
  readonly #names: Names;
  readonly #sleeper: Sleeper;
  /** Of this turn, in order, each once. */
  readonly #pending = new Map<string, Hint>();
  #pendingBytes = 0;

  constructor(link: Link, names: Names, sleeper: Sleeper) {
    this.#link = link;
    this.#names = names;
    this.#sleeper = sleeper;
  }

  notify(topic: string, detail: string): void {
    if (!this.#link.isConnected || !isTellable(topic, detail)) return;
    const payload = JSON.stringify([topic, detail]);
    if (this.#pending.has(payload) || this.#pendingBytes + payload.length > PENDING_BYTES_MAX) return;
    if (this.#pending.size === 0) void this.#tellAfterThisTurn();
    this.#pending.set(payload, { subject: this.#subjectOf(topic), payload });
    this.#pendingBytes += payload.length;
  }

  async onNotify(topic: string, listener: (detail: string) => void): Promise<NotificationWatch> {
    this.#link.checkOpen();
    const subscription = this.#link.connection.subscribe(this.#subjectOf(topic), {
      callback: (error, message) => {
        const detail = error ? undefined : detailOf(message.data, topic);
        if (detail !== undefined) listener(detail);
      },
    });
    await this.#link.flush().catch(throwFault);
    if (this.#link.connection.info?.cluster !== undefined) await this.#sleeper.sleep(CLUSTER_SETTLES_MS);
    return {
      close: async () => {
        if (!this.#link.isClosed) subscription.unsubscribe();
      },
    };
  }

  /** A topic may be longer than a subject can be. */
  #subjectOf(topic: string): string {
    return this.#names.notifySubject(createHash('sha256').update(topic).digest('hex').slice(0, 32));
  }

  async #tellAfterThisTurn(): Promise<void> {
    await this.#sleeper.sleep(0);
    const telling = [...this.#pending.values()];
    const bytes = this.#pendingBytes;
    this.#pending.clear();
    // The client would keep them for the next connection, without a bound.
    if (this.#link.isConnected) {
      for (const { subject, payload } of telling) this.#link.connection.publish(subject, payload);
      await this.#link.flush().catch(() => {});
    }
    this.#pendingBytes -= bytes;
  }
}

/** Of a hint of that topic; undefined for what nobody of ours says. */
function detailOf(data: Uint8Array, topic: string): string | undefined {
  try {
    const [said, detail] = JSON.parse(Buffer.from(data).toString()) as unknown[];
    return said === topic && typeof detail === 'string' ? detail : undefined;
  } catch {
    return undefined;
  }
}
