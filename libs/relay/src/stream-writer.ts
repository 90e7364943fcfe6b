import { type Clock, Fault, type Sleeper, asFault } from '@tidemark/libs-kernel';
import type { AppendOutcome, OpStore } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';
import { Deadlines } from './deadlines.ts';

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
}

/** A stream may hold this share of the queue, so that one busy stream does not shut the others out. */
const STREAM_SHARE = 0.5;
/** A round ends at this many ops or bytes; one push always fits. */
const ROUND_OPS_MAX = 4000;
const ROUND_BYTES_MAX = 16 * 1024 * 1024;
const RETRY_WHEN_FULL_MS = 1000;

interface Load {
  pushes: number;
  bytes: number;
}

interface Push {
  readonly stream: string;
  readonly ops: readonly Op[];
  readonly bytes: number;
  /** `done`: answered, though its round may still run. */
  state: 'waiting' | 'writing' | 'done';
  readonly resolve: (outcomes: readonly AppendOutcome[]) => void;
  readonly reject: (fault: Fault) => void;
}

/**
 * Joins pushes that wait for the same stream into one append, and answers each by itself:
 *
 *     push A ─▶ round 1 (A) ────────────────▶ A answered
 *     push B ─▶ waits ─┐
 *     push C ─▶ waits ─┴▶ round 2 (B, C) ───▶ B and C answered
 *
 * Pushes of a stream are stored in the order in which they came, the ops of a push together. A round that fails for a reason of its ops
 * is done again push by push, so that a bad push fails alone.
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
   * Faults: `overloaded` (nothing done), `deadline` (not done when no round had begun, else unknown), those of the store.
   */
  append(stream: string, ops: readonly Op[], bytes: number): Promise<readonly AppendOutcome[]> {
    return new Promise((resolve, reject) => {
      const full = this.#full(stream, bytes);
      if (full !== null) return reject(full);
      const push: Push = { stream, ops, bytes, state: 'waiting', resolve, reject };
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
    const waiting = this.#waiting.get(stream) as Push[];
    while (waiting.length > 0) {
      const round = this.#takeRound(waiting);
      await this.#writeRound(stream, round);
    }
    this.#waiting.delete(stream);
  }

  #takeRound(waiting: Push[]): Push[] {
    const pushesMax = this.#options.roundPushesMax ?? Infinity;
    let [count, ops, bytes] = [0, 0, 0];
    for (const push of waiting) {
      ops += push.ops.length;
      bytes += push.bytes;
      if (count > 0 && (count >= pushesMax || ops > ROUND_OPS_MAX || bytes > ROUND_BYTES_MAX)) break;
      count++;
    }
    const round = waiting.splice(0, count);
    for (const push of round) push.state = 'writing';
    return round;
  }

  async #writeRound(stream: string, round: readonly Push[]): Promise<void> {
    const ops = round.length === 1 ? (round[0] as Push).ops : round.flatMap((push) => push.ops);
    try {
      const outcomes = await this.#options.opStore.append(stream, ops);
      this.#options.metrics.round(round.length, ops.length);
      let at = 0;
      for (const push of round) this.#settle(push, outcomes.slice(at, (at += push.ops.length)));
    } catch (thrown) {
      const fault = asFault(thrown);
      if (round.length > 1 && isOfTheOps(fault)) {
        for (const push of round) await this.#writeRound(stream, [push]);
      } else {
        for (const push of round) this.#settle(push, fault);
      }
    }
  }

  #settle(push: Push, end: readonly AppendOutcome[] | Fault): void {
    this.#count(push.stream, -1, -push.bytes);
    if (push.state === 'done') return;
    push.state = 'done';
    this.#deadlines.remove(push);
    if (end instanceof Fault) push.reject(end);
    else push.resolve(end);
  }

  #expire(push: Push): void {
    const secs = this.#options.deadlineMs / 1000;
    if (push.state === 'waiting') {
      const waiting = this.#waiting.get(push.stream) as Push[];
      waiting.splice(waiting.indexOf(push), 1);
      this.#settle(push, new Fault('deadline', `the push waited ${secs} s for its turn; nothing of it was stored`));
    } else {
      push.state = 'done';
      this.#options.metrics.late();
      push.reject(
        new Fault('deadline', `no answer from the store within ${secs} s; the push may be stored`, {
          outcome: 'unknown',
        }),
      );
    }
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
