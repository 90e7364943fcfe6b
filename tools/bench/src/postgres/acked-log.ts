import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

/** Which op was answered to stand at which seq of a stream. Light, because it shares the cores with what is measured. */
export class AckedLog {
  /** The id of seq n at n - 1. */
  readonly #streams = new Map<string, string[]>();

  /** The ops stand one after another, the last one at `last`. */
  note(stream: string, opIds: readonly string[], last: bigint): void {
    const acked = this.#streams.get(stream) ?? [];
    this.#streams.set(stream, acked);
    const first = Number(last) - opIds.length;
    for (let i = 0; i < opIds.length; i++) acked[first + i] = opIds[i] as string;
  }

  /** Compares a hash chain over each stream as it was answered with one over it as it is read; answers how many ops there are. */
  async verify(read: (stream: string) => AsyncIterable<readonly [seq: bigint, opId: string]>): Promise<number> {
    let ops = 0;
    for (const [stream, acked] of this.#streams) {
      const [answered, stored] = [createHash('sha256'), createHash('sha256')];
      acked.forEach((opId, at) => answered.update(`${at + 1} ${opId}\n`));
      for await (const [seq, opId] of read(stream)) stored.update(`${seq} ${opId}\n`);
      assert.equal(stored.digest('hex'), answered.digest('hex'), stream);
      ops += acked.length;
    }
    return ops;
  }
}
