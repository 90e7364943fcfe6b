import type { Feed, FeedBatch, FeedChange } from '@tidemark/libs-feed-contract';
import type { OpStoreFeedOptions } from './connect.ts';

/** Where the pass over all streams stands. */
type Pass =
  { readonly kind: 'at'; readonly after: string | null } | { readonly kind: 'rests'; readonly untilMs: number };

/**
 * Names every stream once after a start and again every passMs, and in between the streams that change.
 *
 *     start ─▶ position ─▶ pass over all streams, page by page ─▶ rest ─▶ pass ...
 *                  └─────▶ changes since position, at every read
 *
 * The position is taken before the first pass begins, so a stream is in the pass, among the changes, or both. Nothing is kept across
 * restarts, and nothing per stream in memory.
 */
export class OpStoreFeed implements Feed {
  readonly #options: Required<OpStoreFeedOptions>;
  #position: string | null = null;
  #pass: Pass = { kind: 'at', after: null };

  constructor(options: Required<OpStoreFeedOptions>) {
    this.#options = options;
  }

  async read(max: number, waitMs: number, signal?: AbortSignal): Promise<FeedBatch> {
    const { clock, sleeper, pollMsMin, pollMsMax } = this.#options;
    const endsAtMs = clock.monotonic() + waitMs;
    for (let pollMs = pollMsMin; ; pollMs = Math.min(2 * pollMs, pollMsMax)) {
      const changes = await this.#look(max);
      const leftMs = endsAtMs - clock.monotonic();
      if (changes.length > 0 || leftMs <= 0 || signal?.aborted) return { changes, position: this.#position ?? '' };
      await sleeper.sleep(Math.min(pollMs, leftMs), signal);
    }
  }

  /**
   * Nothing to store: after a restart every stream is named again whatever was checkpointed, and the mark of each stream tells what of
   * it is folded. So no effect can be missed by a checkpoint that came too early (FLD-9).
   */
  async checkpoint(): Promise<void> {}

  ping(): Promise<void> {
    return this.#options.opStore.ping();
  }

  async close(): Promise<void> {}

  /** Changes first; what room they leave goes to the pass, one place at least, so that neither can starve the other. */
  async #look(max: number): Promise<FeedChange[]> {
    this.#position ??= await this.#options.opStore.position();
    const forPass = this.#passDue() ? Math.max(1, Math.floor(max / 2)) : 0;
    const changed = max > forPass ? await this.#changes(max - forPass) : [];
    return forPass === 0 ? changed : [...changed, ...(await this.#nextOfPass(max - changed.length))];
  }

  async #changes(max: number): Promise<FeedChange[]> {
    const page = await this.#options.opStore.changes(this.#position ?? '', max);
    this.#position = page.position;
    return [...page.changed];
  }

  #passDue(): boolean {
    return this.#pass.kind === 'at' || this.#options.clock.monotonic() >= this.#pass.untilMs;
  }

  async #nextOfPass(max: number): Promise<FeedChange[]> {
    const after = this.#pass.kind === 'at' ? this.#pass.after : null;
    const page = await this.#options.opStore.streams(after, max);
    const last = page.at(-1);
    this.#pass =
      page.length < max || last === undefined
        ? { kind: 'rests', untilMs: this.#options.clock.monotonic() + this.#options.passMs }
        : { kind: 'at', after: last.stream };
    return [...page];
  }
}
