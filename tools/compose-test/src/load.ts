import { type FoldClient, type IngestClient, type RelayClient } from '@tidemark/libs-client';
import { type Op, writeJson } from '@tidemark/libs-wire';
import type { Ledger } from './ledger.ts';

export interface Clients {
  readonly ingest: IngestClient;
  readonly relay: RelayClient;
  readonly fold: FoldClient;
}

export interface LoadOptions {
  readonly clients: Clients;
  readonly ledger: Ledger;
  /** So many events and ops are to be accepted. */
  readonly count: number;
  readonly signal: AbortSignal;
}

const POSTERS = 2;
const PUSHERS = 2;
const RECORDS_IN_POST = 25;
const OPS_IN_PUSH = 10;
/** Each so many-th post is repeated, as by a client that lost the answer; and each so many-th push is read back. */
const EACH = 4;
const READ_WAIT_SECS = 55;

/** Posts events, pushes ops and reads them back, all at the same time, until enough is accepted. */
export class Load {
  /** What no client may ever see. */
  readonly problems: string[] = [];
  ended = false;
  readonly #options: LoadOptions;
  readonly #startSize: number;
  #waiting: { readonly size: number; wake(): void }[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#startSize = options.ledger.size;
  }

  async run(): Promise<void> {
    const workers = [
      ...Array.from({ length: POSTERS }, (_, at) => this.#untilDone((round) => this.#post(at, round))),
      ...Array.from({ length: PUSHERS }, (_, at) => this.#untilDone((round) => this.#push(at, round))),
    ];
    await Promise.all(workers);
    this.ended = true;
    this.#tell();
  }

  get accepted(): number {
    return this.#options.ledger.size - this.#startSize;
  }

  /** Resolves when so many events and ops are accepted, and when the load has ended before. */
  reached(size: number): Promise<void> {
    return new Promise((wake) => {
      this.#waiting.push({ size, wake });
      this.#tell();
    });
  }

  #tell(): void {
    const due = this.#waiting.filter(({ size }) => this.ended || size <= this.accepted);
    this.#waiting = this.#waiting.filter((one) => !due.includes(one));
    for (const { wake } of due) wake();
  }

  async #untilDone(work: (round: number) => Promise<void>): Promise<void> {
    const { count, signal } = this.#options;
    for (let round = 0; this.accepted < count && !signal.aborted && this.problems.length === 0; round++) {
      await work(round);
      this.#tell();
    }
  }

  async #post(poster: number, round: number): Promise<void> {
    const ids = Array.from({ length: RECORDS_IN_POST }, (_, at) => `load-${poster}-${round}-${at}`);
    const bodies = ids.map((id, at) => JSON.stringify({ event_id: id, n: at, poster }));
    for (let time = 1; time <= (round % EACH === 0 ? 2 : 1); time++) {
      const { outcomes, error } = await this.#options.clients.ingest.post(bodies, { signal: this.#options.signal });
      if (error !== null) this.problems.push(`a post failed for good: ${error.message}`);
      outcomes.forEach((outcome, at) => {
        const [id = '', body = ''] = [ids[at], bodies[at]];
        if (outcome.kind === 'refused') this.problems.push(`${id} was refused: ${outcome.reason}`);
        else if (outcome.op === null) this.problems.push(`${id} was taken without an op id`);
        else if (time === 2 && outcome.kind === 'stored') this.problems.push(`${id} was stored by its repeat`);
        else this.#options.ledger.add({ stream: '0.events', opId: outcome.op, kind: 'events', id, body });
      });
    }
  }

  async #push(pusher: number, round: number): Promise<void> {
    const { clients, ledger, signal } = this.#options;
    const stream = `load.${pusher}`;
    const ops = Array.from({ length: OPS_IN_PUSH }, (_, at) => noteOp(pusher, round * OPS_IN_PUSH + at));
    const outcome = await clients.relay.push(stream, ops, { signal });
    if (outcome.kind !== 'pushed') return void this.problems.push(`a push failed for good: ${outcome.error.message}`);
    for (const { opId, targetId, value } of ops)
      ledger.add({ stream, opId, kind: 'notes', id: targetId, body: value ?? '' });
    const last = ops.at(-1);
    if (round % EACH === 0 && last !== undefined) await this.#readBack(stream, last, outcome.highestSeq);
  }

  /** What a client was told is stored it must find in the view, once it asks for that seq (FLD-8). */
  async #readBack(stream: string, { targetId, value }: Op, minSeq: bigint | null): Promise<void> {
    const { clients, signal } = this.#options;
    if (minSeq === null) return void this.problems.push(`${stream}: a push told no seq`);
    const read = await clients.fold.document(stream, 'notes', targetId, { minSeq, waitSecs: READ_WAIT_SECS, signal });
    if (read?.kind === 'late')
      return void this.problems.push(`${stream}: seq ${minSeq} was not folded in ${READ_WAIT_SECS} s`);
    const body = read?.fields.get('body');
    if (body === undefined || writeJson(body) !== value)
      this.problems.push(`${stream}: notes ${targetId} read at seq ${minSeq} is not what was pushed`);
  }
}

function noteOp(pusher: number, n: number): Op {
  return {
    envelopeVersion: 1,
    opId: `note-${pusher}-${n}`,
    lamport: BigInt(n + 1),
    site: BigInt(pusher + 1),
    domain: 'event',
    targetKind: 'notes',
    targetId: `note-${n}`,
    field: 'body',
    opType: 'set',
    value: JSON.stringify({ n, pusher }),
    author: '',
    wallClock: '',
    extra: '{}',
  };
}
