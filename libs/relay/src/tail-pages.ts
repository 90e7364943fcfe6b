import { PULL_PAGE_BYTES_MAX } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { encodePage } from '@tidemark/libs-wire';

/** One page as JSON: `{"ops":[...],"next":cursor}`. Bytes, so that readers who share the page hold them once (OPS-4). */
export interface TailPage {
  readonly bytes: Buffer;
  readonly next: bigint;
}

/** Reads pages. Readers that were woken together and stand at the same place share one read. */
export class TailPages {
  readonly #opStore: Pick<OpStore, 'read'>;
  readonly #news: () => number;
  readonly #running = new Map<string, Promise<TailPage>>();

  /** `news` rises whenever a read that began before shows too little to whoever asks now. */
  constructor(opStore: Pick<OpStore, 'read'>, news: () => number) {
    this.#opStore = opStore;
    this.#news = news;
  }

  async read(stream: string, since: bigint, limit: number, bytesMax = PULL_PAGE_BYTES_MAX): Promise<TailPage> {
    const { ops, next } = await this.#opStore.read(stream, since, limit, bytesMax);
    const bare = ops.map(({ op }) => op);
    return { bytes: encodePage(bare, next), next };
  }

  /** As `read`, perhaps by a read that runs already. */
  shared(stream: string, since: bigint, limit: number, bytesMax?: number): Promise<TailPage> {
    const key = JSON.stringify([this.#news(), `${since}`, limit, bytesMax, stream]);
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const reading = this.read(stream, since, limit, bytesMax);
    this.#running.set(key, reading);
    const forget = () => void this.#running.delete(key);
    reading.then(forget, forget);
    return reading;
  }
}
