import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

/** Which op was answered to stand at which seq of a stream. */
export class AckedLog {
  readonly #streams = new Map<string, Map<bigint, string>>();

  /** The ops stand one after another, the last one at `last`. */
  note(stream: string, opIds: readonly string[], last: bigint): void {
    const acked = this.#streams.get(stream) ?? new Map<bigint, string>();
    this.#streams.set(stream, acked);
    opIds.forEach((opId, i) => acked.set(last - BigInt(opIds.length - 1 - i), opId));
  }

  /** Compares a hash chain over each stream as it was answered with one over it as it is read; answers how many ops there are. */
  async verify(read: (stream: string) => AsyncIterable<readonly [seq: bigint, opId: string]>): Promise<number> {
    let ops = 0;
    for (const [stream, acked] of this.#streams) {
      const [answered, stored] = [createHash('sha256'), createHash('sha256')];
      for (let seq = 1n; seq <= BigInt(acked.size); seq++) answered.update(`${seq} ${acked.get(seq)}\n`);
      for await (const [seq, opId] of read(stream)) stored.update(`${seq} ${opId}\n`);
      assert.equal(stored.digest('hex'), answered.digest('hex'), stream);
      ops += acked.size;
    }
    return ops;
  }
}
