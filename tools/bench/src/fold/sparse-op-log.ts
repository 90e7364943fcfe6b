import { compareUtf8 } from '@tidemark/libs-kernel';
import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import { MemoryOpStore } from '@tidemark/libs-op-store-contract/testing';
import { madeOp } from './made-op-log.ts';

/** A log with an op at each `stride`-th seq and burned ones between, which makes its ops when they are read. */
export class SparseOpLog extends MemoryOpStore {
  readonly #ops: number;
  readonly #stride: bigint;

  constructor(ops: number, stride: bigint) {
    super();
    this.#ops = ops;
    this.#stride = stride;
  }

  override async read(_stream: string, after: bigint, limit: number) {
    const first = Number(after / this.#stride) + 1;
    const count = Math.max(0, Math.min(limit, this.#ops - first + 1));
    const ops = Array.from({ length: count }, (_, i): SequencedOp => {
      const n = first + i;
      return { seq: BigInt(n) * this.#stride, op: madeOp(n) };
    });
    return { ops, next: ops.at(-1)?.seq ?? after };
  }

  override async head(): Promise<bigint> {
    return BigInt(this.#ops) * this.#stride;
  }

  /** Ids in UTF-8 order, each with the text of its last event. */
  lastValues(): [string, string][] {
    const last = new Map<string, string>();
    for (let n = Math.max(1, this.#ops - 999); n <= this.#ops; n++) {
      const { targetId, value } = madeOp(n);
      last.set(targetId, value as string);
    }
    return [...last].sort(([a], [b]) => compareUtf8(a, b));
  }
}
