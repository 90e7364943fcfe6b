import type { Lease } from '@tidemark/libs-broker-contract';
import { Fault } from '@tidemark/libs-kernel';
import type { Subscription } from 'nats';
import { LeaseSightings } from './lease-sightings.ts';
import { type LeaseWord, parseWord } from './lease-word.ts';
import { REFUSED, refusalNumber, throwFault } from './map-error.ts';
import type { StreamParts } from './stream-parts.ts';

/** The newest word about a lease, and its seq: who writes the next one must name it. */
interface Current {
  readonly word: LeaseWord;
  readonly seq: number;
}

/**
 * Leases as words in a stream, one per name, each written only over the one that its writer has seen. Nobody's clock is compared with
 * another's: the holder counts its time from before it wrote, everybody else from when they first heard of the word, which is later.
 *
 *     holder    writes ───────────── ttl ─────────────▶ acts no more
 *     others           hear ───────────── ttl ─────────────▶ may write over it
 */
export class Leases {
  readonly #parts: StreamParts;
  readonly #sightings: LeaseSightings;
  readonly #subscription: Subscription;

  private constructor(parts: StreamParts) {
    this.#parts = parts;
    this.#sightings = new LeaseSightings(parts.clock);
    this.#subscription = parts.link.connection.subscribe(parts.names.leaseSubjects, {
      callback: (error, message) => {
        const word = error ? null : parseWord(message.data);
        if (word) this.#sightings.saw(message.subject, word.nonce);
      },
    });
  }

  /** Listens before anybody asks, so that a holder that is gone is known to be. */
  static async open(parts: StreamParts): Promise<Leases> {
    const leases = new Leases(parts);
    await parts.link.flush().catch(throwFault);
    return leases;
  }

  async acquire(name: string, owner: string, ttlMs: number): Promise<Lease | null> {
    const subject = this.#parts.names.leaseSubject(name);
    const current = await this.#read(subject);
    if (current && !this.#isFree(subject, current.word, owner)) return null;
    const held = await this.#write(subject, { owner, ttlMs, released: false }, current?.seq ?? 0);
    return held && this.#leaseOf(subject, owner, ttlMs, held);
  }

  close(): void {
    this.#subscription.unsubscribe();
  }

  #isFree(subject: string, word: LeaseWord, owner: string): boolean {
    if (word.released || word.owner === owner) return true;
    return this.#sightings.ageMs(subject, word.nonce) >= word.ttlMs;
  }

  #leaseOf(subject: string, owner: string, ttlMs: number, first: Held): Lease {
    const { clock } = this.#parts;
    let held: Held | null = first;
    return {
      renew: async () => {
        if (!held || clock.monotonic() >= held.sentAtMs + ttlMs) return false;
        held = await this.#write(subject, { owner, ttlMs, released: false }, held.seq);
        return held !== null;
      },
      release: async () => {
        const last = held;
        held = null;
        if (last) await this.#write(subject, { owner, ttlMs, released: true }, last.seq);
      },
    };
  }

  /** Null when somebody else wrote in between. */
  async #write(subject: string, said: Omit<LeaseWord, 'nonce'>, over: number): Promise<Held | null> {
    const { link, client, names, clock, random, timeoutMs, patienceMs } = this.#parts;
    link.checkOpen();
    const nonce = Buffer.from(random.bytes(16)).toString('hex');
    const sentAtMs = clock.monotonic();
    this.#sightings.saw(subject, nonce);
    const options = { timeout: timeoutMs, expect: { streamName: names.leaseStream, lastSubjectSequence: over } };
    const body = JSON.stringify({ ...said, nonce });
    try {
      const { seq } = await link.ask(() => client.publish(subject, body, options), patienceMs);
      return { seq, sentAtMs };
    } catch (thrown) {
      if (refusalNumber(thrown) !== REFUSED.wrongLastSeq) return throwFault(thrown);
      // A copy that nobody answered may be the one that is in the way.
      const current = await this.#read(subject);
      return current?.word.nonce === nonce ? { seq: current.seq, sentAtMs } : null;
    }
  }

  async #read(subject: string): Promise<Current | undefined> {
    const { manager, names, queues } = this.#parts;
    try {
      const stored = await queues.ask(() => manager.streams.getMessage(names.leaseStream, { last_by_subj: subject }));
      const word = parseWord(stored.data);
      if (!word) throw new Fault('corrupt', `lease ${subject} cannot be read`);
      return { word, seq: stored.seq };
    } catch (thrown) {
      if (refusalNumber(thrown) === REFUSED.noMessage) return undefined;
      if (refusalNumber(thrown) === REFUSED.streamNotFound)
        throw new Fault('misconfigured', 'the leases were deleted: a service that starts makes them again');
      return throwFault(thrown);
    }
  }
}

interface Held {
  readonly seq: number;
  /** Our clock, before it was sent: it runs for everybody else no shorter than for us. */
  readonly sentAtMs: number;
}
