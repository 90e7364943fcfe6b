import { type Clock, Fault, type Sleeper, asFault } from '@tidemark/libs-kernel';
import type { AppendOutcome, OpStore } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';
import { Deadlines } from './deadlines.ts';
import { type Piece, type Push, type Round, takeRound } from './push-round.ts';

export interface StreamWriterMetrics {
  /** A round ended; how many pushes and ops it carried. */
  round(pushes: number, ops: number): void;
  /** Pushes that wait or are in a round, and their bytes. */
  queued(pushes: number, bytes: number): void;
  /** A push that was answered before its round ended. */
  late(): void;
}

export interface StreamWriterOptions {
  readonly opStore: Pick<OpStore, 'append'>;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly metrics: StreamWriterMetrics;
  /** From the call of append; afterwards the push is answered, whatever becomes of its round (RLY-10). */
  readonly deadlineMs: number;
  /** Pushes that wait or are in a round, over all streams; one more is refused (OPS-4). */
  readonly pushesMax: number;
  /** Their bytes, as the callers count them. */
  readonly bytesMax: number;
  /** Pushes that one round joins at most. 1 joins none. */
  readonly roundPushesMax?: number;
  /**
   * Ops that the store writes in one transaction, where these are few (RLY-8): each round is filled with so many ops, from one push or
   * several. Unset: the store takes any number, and no push is cut.
   */
  readonly transactionOps?: number | undefined;
}

/** A stream may hold this share of the queue, so that one busy stream does not shut the others out. */
const STREAM_SHARE = 0.5;
const RETRY_WHEN_FULL_MS = 1000;

interface Load {
  pushes: number;
  bytes: number;
}

/**
 * Joins pushes that wait for the same stream into one append, and answers each by itself:
 *
 *     push A ─▶ round 1 (A) ────────────────▶ A answered
 *     push B ─▶ waits ─┐
 *     push C ─▶ waits ─┴▶ round 2 (B, C) ───▶ B and C answered
 *
 * Pushes of a stream are stored in the order in which they came, the ops of a push together. A round that fails for a reason of its ops
 * is done again push by push, so that a bad push fails alone. Where a transaction of the store holds few ops, a push may take several
 * rounds; it is answered after its last one.
 */
export class StreamWriter {
  readonly #options: StreamWriterOptions;
  readonly #deadlines: Deadlines<Push>;
  /** Streams with a running round, with the pushes that wait for the next one, oldest first. */
  readonly #waiting = new Map<string, Push[]>();
  /** Of each stream in #waiting: its pushes, those of the round included. */
  readonly #ofStream = new Map<string, Load>();
  readonly #all: Load = { pushes: 0, bytes: 0 };

  constructor(options: StreamWriterOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(options.clock, options.sleeper, (push) => this.#expire(push));
  }

  /**
   * Appends as OpStore.append does. `bytes`: what the ops count against the bound.
   * Faults: `overloaded` (nothing done), `deadline` (not done when no round had begun, else unknown), those of the store; ops of earlier
   * rounds stay stored.
   */
  append(stream: string, ops: readonly Op[], bytes: number): Promise<readonly AppendOutcome[]> {
    return new Promise((resolve, reject) => {
      const full = this.#full(stream, bytes);
      if (full !== null) return reject(full);
      const push: Push = { stream, ops, bytes, taken: 0, outcomes: [], done: false, round: null, resolve, reject };
      this.#count(stream, 1, bytes);
      this.#deadlines.add(push, this.#options.deadlineMs);
      const waiting = this.#waiting.get(stream);
      if (waiting !== undefined) return void waiting.push(push);
      this.#waiting.set(stream, [push]);
      void this.#writeRounds(stream);
    });
  }

  /** The queue has an end, and one stream may hold half of it. A push that finds nothing before it is always taken. */
  #full(stream: string, bytes: number): Fault | null {
    const { pushesMax, bytesMax } = this.#options;
    const own = this.#ofStream.get(stream) ?? NOTHING;
    const refuse = (what: string) =>
      new Fault('overloaded', `${what} wait already; nothing of this push was stored`, {
        retryAfterMs: RETRY_WHEN_FULL_MS,
      });
    if (exceeds(this.#all, bytes, pushesMax, bytesMax)) return refuse('too many pushes');
    if (exceeds(own, bytes, pushesMax * STREAM_SHARE, bytesMax * STREAM_SHARE)) {
      return refuse('too many pushes of this stream');
    }
    return null;
  }

  /** One round after another until none waits. Never rejects. */
  async #writeRounds(stream: string): Promise<void> {
    const { roundPushesMax: pushesMax = Infinity, transactionOps = null } = this.#options;
    const waiting = this.#waiting.get(stream) as Push[];
    while (waiting.length > 0) await this.#writeRound(stream, takeRound(waiting, { pushesMax, transactionOps }));
    this.#waiting.delete(stream);
  }

  async #writeRound(stream: string, round: Round): Promise<void> {
    const { pieces, unwanted } = round;
    const ops = pieces.length === 1 ? (pieces[0] as Piece).ops : pieces.flatMap((piece) => piece.ops);
    try {
      const outcomes = await this.#options.opStore.append(stream, ops, unwanted.signal);
      this.#options.metrics.round(pieces.length, ops.length);
      let at = 0;
      for (const piece of pieces) this.#stored(piece, outcomes.slice(at, (at += piece.ops.length)));
    } catch (thrown) {
      const fault = asFault(thrown);
      if (pieces.length > 1 && isOfTheOps(fault)) {
        for (const piece of pieces) await this.#writeAlone(stream, piece);
      } else {
        for (const { push } of pieces) this.#failed(push, pieces.length > 1 ? ofSeveral(fault) : fault);
      }
    }
  }

  async #writeAlone(stream: string, piece: Piece): Promise<void> {
    const round: Round = { pieces: [piece], unwanted: new AbortController() };
    piece.push.round = round;
    if (piece.push.done) this.#leave(piece.push);
    else await this.#writeRound(stream, round);
  }

  #stored({ push }: Piece, outcomes: readonly AppendOutcome[]): void {
    for (const outcome of outcomes) push.outcomes.push(outcome);
    push.round = null;
    if (push.outcomes.length < push.ops.length && !push.done) return;
    this.#leave(push);
    this.#answer(push, () => push.resolve(push.outcomes));
  }

  /** Its ops that went into no round are not stored. */
  #failed(push: Push, fault: Fault): void {
    this.#leave(push);
    this.#answer(push, () => push.reject(push.outcomes.length > 0 ? ofTheRest(fault) : fault));
  }

  #answer(push: Push, answer: () => void): void {
    if (push.done) return;
    push.done = true;
    this.#deadlines.remove(push);
    answer();
  }

  /** Nothing of the push waits or is in a round any more. */
  #leave(push: Push): void {
    push.round = null;
    this.#dropRest(push);
    this.#count(push.stream, -1, -push.bytes);
  }

  #dropRest(push: Push): void {
    const waiting = this.#waiting.get(push.stream) as Push[];
    const at = waiting.indexOf(push);
    if (at >= 0) waiting.splice(at, 1);
  }

  /** A push leaves between rounds only: one that is in a round may yet be stored by it. */
  #expire(push: Push): void {
    const secs = this.#options.deadlineMs / 1000;
    const { round } = push;
    if (round === null) {
      this.#leave(push);
      const waited = new Fault('deadline', `the push waited ${secs} s for its turn`);
      return this.#answer(push, () => push.reject(push.outcomes.length > 0 ? ofTheRest(waited) : waited));
    }
    this.#dropRest(push);
    this.#options.metrics.late();
    const unclear = `no answer from the store within ${secs} s; the push may be stored`;
    this.#answer(push, () => push.reject(new Fault('deadline', unclear, { outcome: 'unknown' })));
    if (round.pieces.every((piece) => piece.push.done)) round.unwanted.abort();
  }

  #count(stream: string, pushes: number, bytes: number): void {
    const own = this.#ofStream.get(stream) ?? { ...NOTHING };
    for (const load of [own, this.#all]) {
      load.pushes += pushes;
      load.bytes += bytes;
    }
    if (own.pushes === 0) this.#ofStream.delete(stream);
    else this.#ofStream.set(stream, own);
    this.#options.metrics.queued(this.#all.pushes, this.#all.bytes);
  }
}

const NOTHING: Readonly<Load> = { pushes: 0, bytes: 0 };

function exceeds(load: Readonly<Load>, bytes: number, pushesMax: number, bytesMax: number): boolean {
  return load.pushes > 0 && (load.pushes + 1 > pushesMax || load.bytes + bytes > bytesMax);
}

/** Something about one of the ops, not about the store: another push of the round may well be stored. */
function isOfTheOps({ code, outcome }: Fault): boolean {
  return outcome === 'not-done' && (code === 'invalid' || code === 'too_large' || code === 'malformed');
}

/** Of a round of several pushes nobody knows which of them is the part that was stored. */
function ofSeveral(fault: Fault): Fault {
  return fault.outcome === 'partly' ? withOutcome(fault, 'unknown') : fault;
}

/** Of a push whose first ops were stored by earlier rounds. */
function ofTheRest(fault: Fault): Fault {
  return fault.outcome === 'not-done' ? withOutcome(fault, 'partly') : fault;
}

function withOutcome(fault: Fault, outcome: Fault['outcome']): Fault {
  const { code, message, retryAfterMs } = fault;
  return new Fault(code, message, { outcome, cause: fault, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}
