import assert from 'node:assert/strict';
import { type Hash, createHash } from 'node:crypto';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import type { Op } from '@tidemark/libs-wire';

/** Id and author name the writer. The item of such an op has about a thousand bytes. */
export function opsOf(writer: number, from: number, count: number): Op[] {
  return Array.from({ length: count }, (_, i) => {
    const opId = `writer-${writer}-${String(from + i).padStart(10, '0')}`;
    return anOp({ opId, author: `writer-${writer}`, site: 7_203_685_477_580_712_345n, value: 'v'.repeat(760) });
  });
}

/**
 * A hash chain for each writer over what it pushed, in its order, and where each push was answered to end. Reading the stream back must give
 * the same chains, seqs without a gap, and each answered seq with the op that it was answered for.
 */
export class PushedChains {
  readonly #chains = new Map<string, { readonly hash: Hash; ops: number }>();
  readonly #answered = new Map<bigint, string>();
  #ops = 0;

  /** A push of one writer was answered with its highest seq. */
  note(ops: readonly Op[], last: bigint): void {
    for (const { author, opId, value } of ops) extend(this.#chains, author, opId, value);
    this.#answered.set(last, ops.at(-1)?.opId ?? '');
    this.#ops += ops.length;
  }

  /** Answers how many ops there are. */
  async verify(stream: AsyncIterable<readonly [seq: bigint, op: Op]>): Promise<number> {
    const read = new Map<string, { readonly hash: Hash; ops: number }>();
    let next = 1n;
    for await (const [seq, { author, opId, value }] of stream) {
      assert.equal(seq, next++, 'a seq is missing');
      const answered = this.#answered.get(seq);
      if (answered !== undefined) assert.equal(opId, answered, `another op is at ${seq}`);
      extend(read, author, opId, value);
    }
    assert.equal(next - 1n, BigInt(this.#ops), 'ops are missing, or stored twice');
    for (const [author, { hash }] of this.#chains)
      assert.equal(read.get(author)?.hash.digest('hex'), hash.digest('hex'), author);
    return this.#ops;
  }
}

function extend(
  chains: Map<string, { readonly hash: Hash; ops: number }>,
  author: string,
  opId: string,
  value: unknown,
) {
  const chain = chains.get(author) ?? { hash: createHash('sha256'), ops: 0 };
  chains.set(author, chain);
  chain.hash.update(`${++chain.ops} ${opId} ${String(value)}\n`);
}
