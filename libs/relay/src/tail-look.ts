import type { ChangeIndex } from '@tidemark/libs-op-store-contract';

/** Says that a stream has ops up to this seq. */
export type Wake = (stream: string, head: bigint) => void;

/** How the poll finds which streams took an append. */
export interface TailLook {
  /** Every append that resolves after this began is found by a later look. Faults: those of the store. */
  begin(): Promise<void>;
  /** Faults: those of the store; what was not found then is found by the next look. */
  look(wake: Wake): Promise<void>;
}

const STREAMS_MAX = 1000;
const PAGES_MAX = 100;

/** Asks a store that can say what changed: one question, whatever the number of streams and readers. */
export class IndexLook implements TailLook {
  readonly #changes: ChangeIndex;
  #position = '';

  constructor(changes: ChangeIndex) {
    this.#changes = changes;
  }

  async begin(): Promise<void> {
    this.#position = await this.#changes.position();
  }

  async look(wake: Wake): Promise<void> {
    for (let page = 0; page < PAGES_MAX; page++) {
      const { changed, position } = await this.#changes.changes(this.#position, STREAMS_MAX);
      for (const { stream, head } of changed) wake(stream, head);
      if (position === this.#position) return;
      this.#position = position;
    }
  }
}
