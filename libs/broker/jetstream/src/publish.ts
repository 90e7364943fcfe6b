import {
  type PublishOptions,
  type PublishOutcome,
  type Topic,
  checkPublish,
  tooLarge,
} from '@tidemark/libs-broker-contract';
import { Fault, type Random } from '@tidemark/libs-kernel';
import type { JetStreamClient, PubAck } from 'nats';
import { type MessageId, escapeKey, headersOf } from './headers.ts';
import type { Handover } from './handover.ts';
import type { Link } from './link.ts';
import { isNobodyThere, outcomeOf } from './map-error.ts';
import type { Names } from './names.ts';
import type { Queues } from './queues.ts';
import type { Rooms } from './rooms.ts';
import { IdNotSettled, sendOnce } from './send-once.ts';
import type { Trimmer } from './trimmer.ts';

export interface PublishParts {
  readonly link: Link;
  readonly client: JetStreamClient;
  readonly names: Names;
  readonly queues: Queues;
  readonly rooms: Rooms;
  readonly trimmer: Trimmer;
  readonly handover: Handover;
  readonly random: Random;
  readonly bodyBytesMax: number;
  /** For one attempt. */
  readonly timeoutMs: number;
  /** For all of them; well inside the duplicate window, so that an attempt never comes after the first one is forgotten. */
  readonly patienceMs: number;
}

/** Names in headers of one message: body limit and the server's limit are this far apart. */
export const HEADER_BYTES_MAX = 8192;
const KEY_LENGTH_MAX = 2048;
/** How often an id without an outcome is asked about. A copy under way gets there sooner. */
const NOT_SETTLED_MAX = 2;
/** What a message takes in the server's file beside its strings, and a little more. */
const STORED_OVERHEAD_BYTES = 128;

interface Message {
  readonly tenant: string;
  readonly subject: string;
  readonly body: Uint8Array;
  readonly id: MessageId;
}

const FULL: PublishOutcome = { kind: 'full', detail: 'the queue is full' };

class NoQueue extends Error {}

/** Stores a message under an id, so that however often it is sent it is stored once. */
export class Publish {
  readonly #parts: PublishParts;

  constructor(parts: PublishParts) {
    this.#parts = parts;
  }

  async run(topic: Topic, body: Uint8Array, options: PublishOptions): Promise<PublishOutcome> {
    checkPublish(topic, options);
    const { tenant } = topic;
    const { names, rooms, trimmer } = this.#parts;
    const message = { tenant, subject: names.queueSubject(topic), body, id: this.#idOf(options) };
    const refused = tooLarge(body, this.#bodyBytesMax());
    if (refused) return refused;
    const outcome = await rooms.admit(tenant, storedBytes(message), () => this.#send(message));
    if (outcome !== null && (outcome.kind !== 'full' || rooms.guards(tenant))) return outcome;
    // A repeat is no less a duplicate for a full queue: only the server knows.
    if (outcome === null) return message.id.drawn ? FULL : this.#send(message);
    return (await trimmer.makeRoom(tenant)) ? this.#send(message) : outcome;
  }

  async #send(message: Message): Promise<PublishOutcome> {
    let [sends, notSettled] = [0, 0];
    const attempt = async () => {
      sends++;
      try {
        return await this.#attempt(message);
      } catch (thrown) {
        if (thrown instanceof IdNotSettled && ++notSettled % NOT_SETTLED_MAX === 0) await this.#free(message);
        throw thrown;
      }
    };
    try {
      const { seq, duplicate } = await this.#parts.link.ask(attempt, this.#parts.patienceMs);
      // A duplicate of a drawn id is the copy that we sent before.
      const kind = duplicate && !message.id.drawn ? 'duplicate' : 'stored';
      return { kind, seq: await this.#parts.queues.placeOf(message.tenant, seq, duplicate) };
    } catch (thrown) {
      if (thrown instanceof NoQueue) return { kind: 'full', detail: thrown.message };
      return outcomeOf(thrown, sends);
    }
  }

  async #attempt({ tenant, subject, body, id }: Message): Promise<PubAck> {
    const { client, names, timeoutMs } = this.#parts;
    const expect = { streamName: names.queueStream(tenant) };
    const options = { expect, msgID: id.text, headers: headersOf(id), timeout: timeoutMs };
    try {
      return await sendOnce(client, subject, body, options);
    } catch (thrown) {
      if (isNobodyThere(thrown) && (await this.#isGone(tenant))) throw new NoQueue(`tenant ${tenant} has no queue`);
      throw thrown;
    }
  }

  /** An id that stays without an outcome was refused; with another leader it can be used. */
  async #free(message: Message): Promise<void> {
    if (await this.#parts.handover.run(message.tenant, storedBytes(message)).catch(() => false)) return;
    throw new Fault('unavailable', 'the idempotency key was refused before and cannot be used yet');
  }

  /** Nobody listens on the subject: either there is no queue, or it has no leader just now. One that was deleted is made again. */
  async #isGone(tenant: string): Promise<boolean> {
    const { queues } = this.#parts;
    try {
      return !(await queues.find(tenant)) && !(await queues.reopen(tenant));
    } catch {
      return false;
    }
  }

  #bodyBytesMax(): number {
    const { link, bodyBytesMax } = this.#parts;
    return Math.min(bodyBytesMax, (link.connection.info?.max_payload ?? Infinity) - HEADER_BYTES_MAX);
  }

  #idOf({ idempotencyKey: key }: PublishOptions): MessageId {
    if (key === undefined) return { text: Buffer.from(this.#parts.random.bytes(16)).toString('hex'), drawn: true };
    const text = escapeKey(key);
    if (text.length > KEY_LENGTH_MAX) throw new Fault('invalid', `an idempotency key of ${text.length} characters`);
    return { text, drawn: false };
  }
}

function storedBytes({ tenant, subject, body, id }: Message): number {
  return STORED_OVERHEAD_BYTES + subject.length + 3 * tenant.length + id.text.length + body.byteLength;
}
