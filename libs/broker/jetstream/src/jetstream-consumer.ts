import type { Consumer, Delivery } from '@tidemark/libs-broker-contract';
import { Fault } from '@tidemark/libs-kernel';
import type { Msg } from 'nats';
import type { DeadLetters } from './dead-letters.ts';
import { ackSubjectOf, deliveryOf, serverSeq, storedAtMs } from './delivery.ts';
import type { Durable } from './durables.ts';
import type { Link } from './link.ts';
import { throwFault } from './map-error.ts';
import type { Names } from './names.ts';
import { type PullEnd, Pulls } from './pulls.ts';
import type { Trimmer } from './trimmer.ts';

export interface ConsumerParts {
  readonly link: Link;
  readonly names: Names;
  readonly trimmer: Trimmer;
  readonly deadLetters: DeadLetters;
  /** For one attempt. */
  readonly timeoutMs: number;
  readonly patienceMs: number;
}

const NS_PER_MS = 1_000_000;
/** A request is renewed after so long: one that was lost without a trace is missed no longer. */
const PULL_MS_MAX = 5000;
/** After a request that was not answered. */
const RETRY_DELAY_MS = 100;
/** After the time of a fetch is over, for a consumer that was made again. */
const LATE_LOOKS_MAX = 3;
/** How long a consumer may take to hear of what is stored. */
const LAG_MS_MAX = 64;
/** What a fetch gives at most, by the server's count; a single message is always given. */
const FETCH_BYTES_MAX = 16 * 1024 * 1024;

/** One process's hold on a durable name. */
export class JetStreamConsumer implements Consumer {
  readonly #durable: Durable;
  readonly #parts: ConsumerParts;
  readonly #pulls: Pulls;
  readonly #onClosed: (consumer: JetStreamConsumer) => void;
  readonly #closed = new AbortController();

  constructor(durable: Durable, parts: ConsumerParts, onClosed: (consumer: JetStreamConsumer) => void) {
    this.#onClosed = onClosed;
    this.#durable = durable;
    this.#parts = parts;
    this.#pulls = new Pulls(parts.link, durable.pullSubject, `_INBOX_${parts.names.prefix}`);
  }

  async fetch(max: number, waitMs: number, signal?: AbortSignal): Promise<readonly Delivery[]> {
    if (this.#hasEnded()) throw new Fault('unavailable', 'the consumer is closed');
    const stop = signal ? AbortSignal.any([signal, this.#closed.signal]) : this.#closed.signal;
    const { clock } = this.#parts.link;
    const endsAtMs = clock.monotonic() + waitMs;
    for (let late = 0; !stop.aborted && !this.#hasEnded();) {
      const { deliveries, end } = await this.#look(max, endsAtMs, stop);
      if (deliveries.length > 0) return deliveries;
      if (end === 'stopped') break;
      const restored = end === 'answered' || (await this.#restored(endsAtMs, stop));
      if (clock.monotonic() < endsAtMs) continue;
      if (end === 'answered') break;
      // An empty answer says that there was nothing; who could not ask does not know.
      if (!restored || ++late === LATE_LOOKS_MAX)
        throw new Fault('unavailable', 'the queue cannot be reached', { outcome: 'unknown' });
    }
    return [];
  }

  async ack(deliveries: readonly Delivery[]): Promise<void> {
    const own = this.#own(deliveries);
    await Promise.all(own.map((delivery) => this.#settle(delivery, '+ACK')));
    const acks = own.map((delivery) => ({ seq: serverSeq(delivery), storedAtMs: storedAtMs(delivery) }));
    this.#parts.trimmer.acked(this.#durable.acked, acks);
  }

  async nak(deliveries: readonly Delivery[], delayMs: number): Promise<void> {
    const word = delayMs > 0 ? `-NAK {"delay": ${Math.ceil(delayMs * NS_PER_MS)}}` : '-NAK';
    await Promise.all(this.#own(deliveries).map((delivery) => this.#settle(delivery, word)));
  }

  async deadLetter(delivery: Delivery, reason: string): Promise<void> {
    return this.#parts.deadLetters.park(delivery, reason);
  }

  async pending(): Promise<bigint> {
    return this.#durable.pending();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#pulls.close();
    this.#onClosed(this);
  }

  /** What is there now; else the first that comes, and what came with it. */
  async #look(max: number, endsAtMs: number, stop: AbortSignal): Promise<Looked> {
    if (endsAtMs <= this.#parts.link.clock.monotonic()) return this.#stored(max, endsAtMs, stop);
    const now = await this.#pull(max, 0, endsAtMs, stop);
    const waitMs = endsAtMs - this.#parts.link.clock.monotonic();
    if (now.deliveries.length > 0 || now.end !== 'answered' || waitMs <= 0) return now;
    const first = await this.#pull(1, Math.ceil(Math.min(waitMs, PULL_MS_MAX)), endsAtMs, stop);
    if (first.deliveries.length === 0 || max === 1 || stop.aborted) return first;
    const rest = await this.#pull(max - 1, 0, endsAtMs, stop);
    return { deliveries: [...first.deliveries, ...rest.deliveries], end: 'answered' };
  }

  /** For who does not wait: all that was stored before the call, also what the consumer has not heard of yet. */
  async #stored(max: number, endsAtMs: number, stop: AbortSignal): Promise<Looked> {
    const { sleeper } = this.#parts.link;
    const last = await this.#durable.lastStored().catch(() => 0);
    const deliveries: Delivery[] = [];
    for (let waitMs = 2; ; waitMs *= 2) {
      const { deliveries: more, end } = await this.#pull(max - deliveries.length, 0, endsAtMs, stop);
      deliveries.push(...more);
      const bytes = deliveries.reduce((total, { body }) => total + body.byteLength, 0);
      const enough = deliveries.length >= max || bytes > FETCH_BYTES_MAX / 2 || waitMs > LAG_MS_MAX;
      if (enough || end !== 'answered') return { deliveries, end };
      if (!(await this.#durable.lagsBehind(last).catch(() => false))) return { deliveries, end };
      await sleeper.sleep(waitMs, stop);
    }
  }

  async #pull(batch: number, expiresMs: number, endsAtMs: number, stop: AbortSignal): Promise<Looked> {
    const { link, names, timeoutMs } = this.#parts;
    const waitMs = Math.max(endsAtMs - link.clock.monotonic(), timeoutMs);
    if (!(await link.connected(waitMs, stop))) return { deliveries: [], end: stop.aborted ? 'stopped' : 'lost' };
    const payload = link.connection.info?.max_payload ?? 0;
    const bytesMax = Math.max(FETCH_BYTES_MAX, 2 * payload);
    const { messages, end } = await this.#pulls.pull({ batch, expiresMs, bytesMax }, stop);
    const { tenant, queue } = this.#durable;
    return { deliveries: messages.map((message: Msg) => deliveryOf(message, tenant, queue, names)), end };
  }

  /** Whether the durable consumer is there (again). A fault that waiting does not mend is thrown. */
  async #restored(endsAtMs: number, stop: AbortSignal): Promise<boolean> {
    const { clock, sleeper } = this.#parts.link;
    const leftMs = endsAtMs - clock.monotonic();
    if (leftMs > 0) await sleeper.sleep(Math.min(leftMs, RETRY_DELAY_MS), stop);
    try {
      if (!stop.aborted) await this.#durable.restore();
      return true;
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code === 'unavailable') return false;
      throw thrown;
    }
  }

  /** Safe to repeat: the second word about a delivery changes nothing. */
  async #settle(delivery: Delivery, word: string): Promise<void> {
    const { link, timeoutMs, patienceMs } = this.#parts;
    link.checkOpen();
    const subject = ackSubjectOf(delivery);
    const send = () => link.connection.request(subject, word, { timeout: timeoutMs });
    await link.ask(send, patienceMs).catch(throwFault);
  }

  /** Those of a queue that was deleted meanwhile have nobody to tell. */
  #own(deliveries: readonly Delivery[]): Delivery[] {
    return deliveries.filter(({ queue }) => queue === this.#durable.queue.name);
  }

  #hasEnded(): boolean {
    return this.#closed.signal.aborted || this.#parts.link.isClosed;
  }
}

interface Looked {
  readonly deliveries: readonly Delivery[];
  readonly end: PullEnd;
}
