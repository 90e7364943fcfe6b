import type { OpStore } from '@tidemark/libs-op-store-contract';
import { decodePush } from '@tidemark/libs-wire';

export interface Pushed {
  /** Ops in the request, repeated ones counted too. */
  readonly appended: number;
  /** Highest seq of the push, old or new; 0 for an empty push. */
  readonly highestSeq: bigint;
}

/** Stores a batch of ops at the end of a stream, in their order. A repeat of a push is harmless: it answers the old seqs. */
export class PushService {
  readonly #opStore: OpStore;

  constructor(opStore: OpStore) {
    this.#opStore = opStore;
  }

  /** Faults: `malformed`, `invalid`, `too_large` before anything is stored; those of the store. */
  async push(stream: string, body: Uint8Array): Promise<Pushed> {
    const ops = decodePush(body);
    const outcomes = ops.length === 0 ? [] : await this.#opStore.append(stream, ops);
    let highestSeq = 0n;
    for (const { seq } of outcomes) if (seq > highestSeq) highestSeq = seq;
    return { appended: ops.length, highestSeq };
  }
}
