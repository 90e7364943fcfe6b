import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { connectSqlite } from '@tidemark/libs-op-store-sql';
import { freshOps } from '../postgres/writers.ts';
import { RawFile } from './raw-file.ts';

/** A file with many ops in 's', burned seqs in 'gap' between two, and none in 'dense'. */
export class GrownFile {
  readonly opStore: OpStore;
  readonly #raw: RawFile;

  private constructor(opStore: OpStore, raw: RawFile) {
    this.opStore = opStore;
    this.#raw = raw;
  }

  static async make(size: number, burned: number, time: { clock: Clock; sleeper: Sleeper }): Promise<GrownFile> {
    const raw = await RawFile.make();
    raw.fill('s', 0, size, freshOps);
    raw.append('gap', 1n, freshOps(1));
    raw.append('gap', BigInt(burned + 2), freshOps(1));
    raw.append('dense', 1n, freshOps(2));
    return new GrownFile((await connectSqlite({ file: raw.file, ...time })).opStore, raw);
  }

  async remove(): Promise<void> {
    await this.opStore.close();
    this.#raw.remove();
  }
}
