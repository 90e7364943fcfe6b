import { Fault } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { type Op, decodePush } from '@tidemark/libs-wire';
import type { StreamWriter } from './stream-writer.ts';

export interface Pushed {
  /** Ops in the request, repeated ones counted too. */
  readonly appended: number;
  /** Highest seq of the push, old or new; 0 for an empty push. */
  readonly highestSeq: bigint;
}

/** Stores a batch of ops at the end of a stream, in their order. A repeat of a push is harmless: it answers the old seqs. */
export class PushService {
  readonly #opStore: Pick<OpStore, 'refusal'>;
  readonly #writer: Pick<StreamWriter, 'append'>;

  constructor(opStore: Pick<OpStore, 'refusal'>, writer: Pick<StreamWriter, 'append'>) {
    this.#opStore = opStore;
    this.#writer = writer;
  }

  /**
   * Faults: `malformed`, `invalid`, `too_large` before anything is stored; those of the writer and the store. An op that the store can
   * never take (RLY-12) is refused by its own fault; the ops before it are stored, and none after it.
   */
  async push(stream: string, body: Uint8Array): Promise<Pushed> {
    const ops = decodePush(body);
    const { storable, refusal } = this.#untilRefused(ops);
    const outcomes = storable.length === 0 ? [] : await this.#writer.append(stream, storable, body.length);
    if (refusal !== null) throw refusal;
    let highestSeq = 0n;
    for (const { seq } of outcomes) if (seq > highestSeq) highestSeq = seq;
    return { appended: ops.length, highestSeq };
  }

  #untilRefused(ops: readonly Op[]): { storable: readonly Op[]; refusal: Fault | null } {
    for (const [at, op] of ops.entries()) {
      const fault = this.#opStore.refusal(op);
      if (fault === null) continue;
      const outcome = at === 0 ? 'not-done' : 'partly';
      return { storable: ops.slice(0, at), refusal: new Fault(fault.code, fault.message, { outcome, cause: fault }) };
    }
    return { storable: ops, refusal: null };
  }
}
