import type { DeadLetter, Delivery } from '@tidemark/libs-broker-contract';
import { type MsgHdrs, type StoredMsg, headers } from 'nats';
import { escapeKey, unescapeKey } from './headers.ts';
import { REFUSED, refusalNumber, throwFault } from './map-error.ts';
import type { Names } from './names.ts';
import { sendOnce } from './send-once.ts';
import type { StreamParts } from './stream-parts.ts';

const QUEUE = 'Tidemark-Queue';
const SEQ = 'Tidemark-Seq';
const KEY = 'Tidemark-Key';
const REASON = 'Tidemark-Reason';
const PARKED_AT = 'Tidemark-Parked-At';

/** Of a reason, as it is written; the rest is cut. */
const REASON_LENGTH_MAX = 2048;

/** Messages that nobody could process, in a stream beside the queue: body, table and key as they were, the rest in headers. */
export class DeadLetters {
  readonly #parts: StreamParts;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  /** Under an id of its own, never the message's: the same message may be parked again after a replay. */
  async park(delivery: Delivery, reason: string): Promise<void> {
    const { link, client, names, clock, random, timeoutMs, patienceMs } = this.#parts;
    link.checkOpen();
    const told = headersOf(delivery, reason, Math.floor(clock.now()));
    const msgID = Buffer.from(random.bytes(16)).toString('hex');
    const options = {
      msgID,
      headers: told,
      timeout: timeoutMs,
      expect: { streamName: names.deadLetterStream(delivery.topic.tenant) },
    };
    const subject = names.deadLetterSubject(delivery.topic);
    await link.ask(() => sendOnce(client, subject, delivery.body, options), patienceMs).catch(throwFault);
  }

  async list(tenant: string, after: bigint, limit: number): Promise<readonly DeadLetter[]> {
    const { names } = this.#parts;
    await this.#parts.queues.get(tenant);
    const found: DeadLetter[] = [];
    for (let from = after + 1n; found.length < limit;) {
      const stored = await this.#next(tenant, from);
      if (!stored) break;
      found.push(deadLetterOf(stored, tenant, names));
      from = BigInt(stored.seq) + 1n;
    }
    return found;
  }

  async remove(tenant: string, id: bigint): Promise<boolean> {
    const { manager, names, queues } = this.#parts;
    await queues.get(tenant);
    if (!isSeq(id)) return false;
    const stream = names.deadLetterStream(tenant);
    let sends = 0;
    try {
      return await queues.ask(() => {
        sends++;
        return manager.streams.deleteMessage(stream, Number(id), false);
      });
    } catch (thrown) {
      // Not there: what nobody answered before may have removed it.
      if (refusalNumber(thrown) === REFUSED.notDeleted || refusalNumber(thrown) === REFUSED.noMessage) return sends > 1;
      return throwFault(thrown);
    }
  }

  async count(tenant: string): Promise<bigint> {
    const { manager, names, queues } = this.#parts;
    const info = await queues.call(() => manager.streams.info(names.deadLetterStream(tenant)));
    return BigInt(info.state.messages);
  }

  async #next(tenant: string, from: bigint): Promise<StoredMsg | undefined> {
    const { manager, names, queues } = this.#parts;
    if (!isSeq(from)) return undefined;
    const query = { seq: Number(from), next_by_subj: names.deadLetterSubjects(tenant) };
    try {
      return await queues.ask(() => manager.streams.getMessage(names.deadLetterStream(tenant), query));
    } catch (thrown) {
      if (refusalNumber(thrown) === REFUSED.noMessage) return undefined;
      return throwFault(thrown);
    }
  }
}

function headersOf({ queue, seq, idempotencyKey }: Delivery, reason: string, parkedAtMs: number): MsgHdrs {
  const told = headers();
  told.set(QUEUE, escapeKey(queue));
  told.set(SEQ, `${seq}`);
  if (idempotencyKey !== null) told.set(KEY, escapeKey(idempotencyKey));
  told.set(REASON, cut(reason));
  told.set(PARKED_AT, `${parkedAtMs}`);
  return told;
}

function cut(reason: string): string {
  let kept = reason.toWellFormed().slice(0, REASON_LENGTH_MAX);
  while (escapeKey(kept).length > REASON_LENGTH_MAX) kept = kept.slice(0, kept.length / 2);
  return escapeKey(kept.toWellFormed());
}

function deadLetterOf({ seq, subject, header, data, time }: StoredMsg, tenant: string, names: Names): DeadLetter {
  const said = (name: string) => (header?.has(name) ? unescapeKey(header.get(name)) : undefined);
  return {
    id: BigInt(seq),
    topic: { tenant, table: names.tableOf(subject) },
    queue: said(QUEUE) ?? '',
    seq: number(said(SEQ)),
    body: data,
    idempotencyKey: said(KEY) ?? null,
    reason: said(REASON) ?? '',
    parkedAtMs: Number(number(said(PARKED_AT))) || time.getTime(),
  };
}

/** A letter that somebody else put there has no place in the queue. */
function number(text: string | undefined): bigint {
  return text !== undefined && /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
}

function isSeq(value: bigint): boolean {
  return value > 0n && value <= BigInt(Number.MAX_SAFE_INTEGER);
}
