import { Fault } from '@tidemark/libs-kernel';
import { type Op, parseInt64 } from '@tidemark/libs-wire';
import { Members } from './answer-json.ts';
import type { Answer } from './exchange.ts';
import { segment } from './path-segment.ts';
import { type EncodedOp, batchesOf, pushBody } from './push-batches.ts';
import type { CallOptions, Service } from './service.ts';
import { ServiceError } from './service-error.ts';

interface Progress {
  /** So many of the ops, from the first one, are certainly stored, now or before. */
  readonly stored: number;
  /** Highest seq among them; null when there are none, or the relay does not tell. */
  readonly highestSeq: bigint | null;
}

/**
 * `pushed`: every op is stored. `op_refused`: the relay takes all but this op; those before it are stored, those behind it were not tried.
 * `interrupted`: of the ops behind `stored` the first `unknown` may be stored, the others certainly are not.
 * After either, push again from `stored` on: what was stored is recognised.
 */
export type PushOutcome =
  | ({ readonly kind: 'pushed' } & Progress)
  | ({ readonly kind: 'op_refused'; readonly op: Op; readonly error: ServiceError } & Progress)
  | ({ readonly kind: 'interrupted'; readonly unknown: number; readonly error: ServiceError } & Progress);

type Stop =
  | { readonly kind: 'op_refused'; readonly op: Op; readonly error: ServiceError }
  | { readonly kind: 'interrupted'; readonly unknown: number; readonly error: ServiceError };

/** Pushes ops in their order, one batch after the other. */
export async function pushAll(
  service: Service,
  stream: string,
  ops: readonly Op[],
  options: CallOptions,
): Promise<PushOutcome> {
  const push = new Push(service, stream, options.signal);
  for (const batch of batchesOf(ops)) {
    const stop = batch.kind === 'ops' ? await push.store(batch.ops) : impossible(batch.op, batch.reason);
    if (stop !== null) return { ...stop, ...push.progress };
  }
  return { kind: 'pushed', ...push.progress };
}

class Push {
  readonly #service: Service;
  readonly #path: string;
  readonly #signal: AbortSignal | undefined;
  #stored = 0;
  #highestSeq: bigint | null = null;

  constructor(service: Service, stream: string, signal: AbortSignal | undefined) {
    this.#service = service;
    this.#path = `/streams/${segment(stream)}/ops`;
    this.#signal = signal;
  }

  get progress(): Progress {
    return { stored: this.#stored, highestSeq: this.#highestSeq };
  }

  /**
   * Halves what is refused until the op that is to blame stands alone; null when everything is stored. `behind`: so many ops behind these
   * may be stored with them, because a refusal of the larger batch did not say that nothing was; null: nothing of the kind happened.
   */
  async store(ops: readonly EncodedOp[], behind: number | null = null): Promise<Stop | null> {
    let unsure = behind;
    try {
      this.#note(ops.length, await this.#send(ops));
      return null;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.outcome !== 'not-done') unsure ??= 0;
      if (!blamesOps(error)) return { kind: 'interrupted', unknown: unsure === null ? 0 : ops.length + unsure, error };
      const [first] = ops;
      if (ops.length === 1 && first !== undefined) return { kind: 'op_refused', op: first.op, error };
    }
    const half = Math.ceil(ops.length / 2);
    const rest = ops.slice(half);
    return (
      (await this.store(ops.slice(0, half), unsure === null ? null : unsure + rest.length)) ?? this.store(rest, unsure)
    );
  }

  #send(ops: readonly EncodedOp[]): Promise<bigint | null> {
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', path: this.#path, headers, body: pushBody(ops), signal: this.#signal } as const;
    return this.#service.call(request, (answer) => seqIn(answer, ops.length));
  }

  /** Answers of repeats may be older than what was seen (R31). */
  #note(stored: number, seq: bigint | null): void {
    this.#stored += stored;
    if (seq !== null && (this.#highestSeq === null || seq > this.#highestSeq)) this.#highestSeq = seq;
  }
}

/** 413: too much, or an op that is too large. 422: an op that cannot be stored as it is. */
function blamesOps({ status }: ServiceError): boolean {
  return status === 413 || status === 422;
}

function seqIn({ headers, body }: Answer, ops: number): bigint | null {
  const appended = Members.of(body).count('appended');
  if (appended !== ops) throw new Fault('invalid', `appended: ${appended} of ${ops}`);
  const seq = headers.get('tidemark-seq');
  return seq === null ? null : parseInt64(seq);
}

function impossible(op: Op, reason: string): Stop {
  return { kind: 'op_refused', op, error: new ServiceError(reason, { status: null, outcome: 'not-done' }) };
}
