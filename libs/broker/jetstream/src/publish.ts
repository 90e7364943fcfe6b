import {
  type PublishOptions,
  type PublishOutcome,
  type Topic,
  checkPublish,
  tooLarge,
} from '@tidemark/libs-broker-contract';
import { Fault, type Random } from '@tidemark/libs-kernel';
import { type JetStreamClient, type MsgHdrs, type PubAck, headers } from 'nats';
import { KEYLESS_HEADER, escapeKey } from './headers.ts';
import type { Link } from './link.ts';
import { isNobodyThere, outcomeOf } from './map-error.ts';
import type { Names } from './names.ts';
import type { Queues } from './queues.ts';
import type { Trimmer } from './trimmer.ts';

export interface PublishParts {
  readonly link: Link;
  readonly client: JetStreamClient;
  readonly names: Names;
  readonly queues: Queues;
  readonly trimmer: Trimmer;
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

class NoQueue extends Error {}

/** Stores a message under an id of its own, so that however often it is sent it is stored once. */
export class Publish {
  readonly #parts: PublishParts;

  constructor(parts: PublishParts) {
    this.#parts = parts;
  }

  async run(topic: Topic, body: Uint8Array, options: PublishOptions): Promise<PublishOutcome> {
    checkPublish(topic, options);
    const { names, bodyBytesMax, link } = this.#parts;
    const subject = names.queueSubject(topic);
    const id = this.#idOf(options.idempotencyKey);
    const limit = Math.min(bodyBytesMax, (link.connection.info?.max_payload ?? Infinity) - HEADER_BYTES_MAX);
    const refused = tooLarge(body, limit);
    if (refused) return refused;
    const sent = { tenant: topic.tenant, subject, body, id, keyless: options.idempotencyKey === undefined };
    const outcome = await this.#send(sent);
    if (outcome.kind !== 'full' || !(await this.#parts.trimmer.makeRoom(topic.tenant))) return outcome;
    return this.#send(sent);
  }

  async #send(message: Message): Promise<PublishOutcome> {
    const { link, client, names, timeoutMs, patienceMs } = this.#parts;
    const stream = names.queueStream(message.tenant);
    const options = { expect: { streamName: stream }, msgID: message.id, timeout: timeoutMs };
    let sends = 0;
    try {
      const ack = await link.ask(() => {
        sends++;
        const telling = client.publish(message.subject, message.body, { ...options, headers: headersOf(message) });
        return telling.catch((thrown) => this.#nobody(message.tenant, thrown));
      }, patienceMs);
      return stored(ack, message);
    } catch (thrown) {
      if (thrown instanceof NoQueue) return { kind: 'full', detail: thrown.message };
      return outcomeOf(thrown, sends);
    }
  }

  /** Nobody listens on the subject: either there is no queue, or it has no leader just now. */
  async #nobody(tenant: string, thrown: unknown): Promise<never> {
    const gone = isNobodyThere(thrown) && !(await this.#parts.queues.find(tenant));
    if (gone && !(await this.#parts.queues.reopen(tenant))) throw new NoQueue(`tenant ${tenant} has no queue`);
    throw thrown;
  }

  #idOf(key: string | undefined): string {
    if (key === undefined) return Buffer.from(this.#parts.random.bytes(16)).toString('hex');
    const id = escapeKey(key);
    if (id.length > KEY_LENGTH_MAX) throw new Fault('invalid', `an idempotency key of ${id.length} characters`);
    return id;
  }
}

interface Message {
  readonly tenant: string;
  readonly subject: string;
  readonly body: Uint8Array;
  readonly id: string;
  readonly keyless: boolean;
}

function headersOf({ keyless }: Message): MsgHdrs {
  const own = headers();
  if (keyless) own.set(KEYLESS_HEADER, '1');
  return own;
}

/** The id of a keyless message is its own: a duplicate is the copy that we sent before. */
function stored({ seq, duplicate }: PubAck, { keyless }: Message): PublishOutcome {
  return { kind: duplicate && !keyless ? 'duplicate' : 'stored', seq: BigInt(seq) };
}
