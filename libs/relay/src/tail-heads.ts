import { asFault } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import type { TailLook, Wake } from './tail-look.ts';

export interface HeadsLookOptions {
  readonly opStore: Pick<OpStore, 'head'>;
  /** The streams that somebody waits for now. */
  readonly waited: () => readonly string[];
  readonly log: { warn(fields: object, message: string): void };
}

/** Streams that are asked at the same time. */
const AT_ONCE = 64;
/** A new head is told by so many looks: its op may be readable a moment after the head is. */
const TOLD_TIMES = 3;

interface Waited {
  head: bigint;
  /** Looks that tell of the head yet. */
  left: number;
  isAsked: boolean;
  isFailing: boolean;
}

/**
 * Asks for the head of each stream that is waited for: for a store that cannot say what changed. A look begins the questions and does not
 * wait for the answers: each stream is woken when its own comes, and one that is slow or fails holds up no other. A head that stays where
 * it is, above the newest op or before a hole that may not be passed, wakes nobody for ever.
 */
export class HeadsLook implements TailLook {
  readonly #options: HeadsLookOptions;
  readonly #streams = new Map<string, Waited>();
  readonly #queue: string[] = [];
  #asking = 0;

  constructor(options: HeadsLookOptions) {
    this.#options = options;
  }

  async begin(): Promise<void> {}

  async look(wake: Wake): Promise<void> {
    const waited = new Set(this.#options.waited());
    for (const [stream, { isAsked }] of this.#streams)
      if (!isAsked && !waited.has(stream)) this.#streams.delete(stream);
    for (const stream of waited) {
      const state = this.#streams.get(stream) ?? { head: 0n, left: 0, isAsked: false, isFailing: false };
      this.#streams.set(stream, state);
      if (state.isAsked) continue;
      state.isAsked = true;
      this.#queue.push(stream);
    }
    while (this.#asking < AT_ONCE && this.#queue.length > 0) void this.#askOn(wake);
  }

  /** One question after another until none is left. Never rejects. */
  async #askOn(wake: Wake): Promise<void> {
    this.#asking++;
    for (let stream = this.#queue.shift(); stream !== undefined; stream = this.#queue.shift())
      await this.#ask(stream, wake);
    this.#asking--;
  }

  async #ask(stream: string, wake: Wake): Promise<void> {
    const state = this.#streams.get(stream) as Waited;
    try {
      const head = await this.#options.opStore.head(stream);
      if (head !== state.head) Object.assign(state, { head, left: TOLD_TIMES });
      if (state.left > 0) {
        state.left--;
        wake(stream, head);
      }
      state.isFailing = false;
    } catch (thrown) {
      if (!state.isFailing)
        this.#options.log.warn({ stream, error: asFault(thrown).message }, 'cannot look for appends');
      state.isFailing = true;
    }
    state.isAsked = false;
  }
}
