import { type Sleeper, asFault } from '@tidemark/libs-kernel';

/**
 * Calls `ring` soon after an append of any process, until it is closed. null, or the fault `unavailable`: nothing can be heard there.
 * A hint: it may ring late, for nothing, or not at all.
 */
export type Bell = (ring: () => void) => Promise<{ close(): Promise<void> } | null>;

/** The bells that can be heard, as one. */
export class Doorbells {
  readonly #watches: { close(): Promise<void> }[] = [];
  /** Aborted by the next ring. */
  #silence = new AbortController();
  readonly #ring = (): void => this.#silence.abort();

  static async listen(bells: readonly Bell[]): Promise<Doorbells> {
    const doorbells = new Doorbells();
    for (const bell of bells) await doorbells.#add(bell);
    return doorbells;
  }

  /** How many can be heard. */
  get count(): number {
    return this.#watches.length;
  }

  /** Rings from now on end a wait; what rang before is known. */
  answer(): void {
    if (this.#silence.signal.aborted) this.#silence = new AbortController();
  }

  /** Sleeps until a bell rings, or rang since `answer`; at most `ms`, or until `signal` aborts. */
  async wait(sleeper: Sleeper, ms: number, signal?: AbortSignal): Promise<void> {
    const silence = this.#silence;
    const end = () => silence.abort();
    if (signal?.aborted) return;
    signal?.addEventListener('abort', end, { once: true });
    await sleeper.sleep(ms, silence.signal);
    signal?.removeEventListener('abort', end);
  }

  async close(): Promise<void> {
    for (const watch of this.#watches.splice(0)) await watch.close();
    this.#silence.abort();
  }

  async #add(bell: Bell): Promise<void> {
    try {
      const watch = await bell(this.#ring);
      if (watch !== null) this.#watches.push(watch);
    } catch (thrown) {
      if (asFault(thrown).code !== 'unavailable') throw thrown;
    }
  }
}
