import { PULL_PAGE_BYTES_MAX } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { encodePage } from '@tidemark/libs-wire';

/** Serves the ops after a cursor, one page at a time. */
export class PullService {
  readonly #opStore: OpStore;

  constructor(opStore: OpStore) {
    this.#opStore = opStore;
  }

  /**
   * The page as JSON text: `{"ops":[...],"next":cursor}`. The cursor stands still (also a negative one) when nothing lies beyond it;
   * that is the only sign of the end of the stream.
   */
  async pull(stream: string, since: bigint, limit: number): Promise<string> {
    if (limit === 0) return encodePage([], since);
    const page = await this.#opStore.read(stream, since, limit, PULL_PAGE_BYTES_MAX);
    const ops = page.ops.map(({ op }) => op);
    return encodePage(ops, page.next);
  }
}
