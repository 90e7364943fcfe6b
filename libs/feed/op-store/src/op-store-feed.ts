import type { Feed, FeedBatch, FeedChange } from '@tidemark/libs-feed-contract';
import { Fault } from '@tidemark/libs-kernel';
import type { StreamHead } from '@tidemark/libs-op-store-contract';
import type { OpStoreFeedOptions } from './connect.ts';
import type { Doorbells } from './doorbells.ts';

type Parts = Required<Omit<OpStoreFeedOptions, 'bells'>> & { readonly doorbells: Doorbells };

/** Where the pass over all streams stands. */
type Pass =
  { readonly kind: 'at'; readonly after: string | null } | { readonly kind: 'rests'; readonly untilMs: number };

/**
 * Names every stream once after a start and again every passMs, and in between the streams that change.
 *
 *     start ─▶ position ─▶ pass over all streams, page by page ─▶ rest ─▶ pass ...
 *                  └─────▶ changes since position, at every read
 *
 * A doorbell that rings ends the wait between two looks; without one the log is polled, fast at first.
 *
 * The position is taken before the first pass begins, so a stream is in the pass, among the changes, or both. Nothing is kept across
 * restarts, and nothing per stream in memory.
 */
export class OpStoreFeed implements Feed {
  readonly #options: Parts;
  #position: string | null = null;
  #pass: Pass = { kind: 'at', after: null };
  #closed = false;

  constructor(options: Parts) {
    this.#options = options;
  }

  async read(max: number, waitMs: number, signal?: AbortSignal): Promise<FeedBatch> {
    const { clock, sleeper, doorbells, pollMsMin, pollMsMax } = this.#options;
    const endsAtMs = clock.monotonic() + waitMs;
    for (let pollMs = pollMsMin; ; pollMs = Math.min(2 * pollMs, pollMsMax)) {
      doorbells.answer();
      const changes = await this.#look(max);
      const leftMs = endsAtMs - clock.monotonic();
      if (changes.length > 0 || leftMs <= 0 || signal?.aborted) return { changes, position: this.#position ?? '' };
      await doorbells.wait(sleeper, Math.min(pollMs, leftMs), signal);
    }
  }

  /**
   * Nothing to store: after a restart every stream is named again whatever was checkpointed, and the mark of each stream tells what of
   * it is folded. So no effect can be missed by a checkpoint that came too early (FLD-9).
   */
  async checkpoint(): Promise<void> {}

  async ping(): Promise<void> {
    this.#assertOpen();
    await this.#options.opStore.ping();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#options.doorbells.close();
  }

  /**
   * Changes first; what room they leave goes to the pass, one place at least, so that neither can starve the other. Moves on only when
   * the store has answered everything: a fault loses nothing.
   */
  async #look(max: number): Promise<FeedChange[]> {
    this.#assertOpen();
    const { opStore } = this.#options;
    this.#position ??= await opStore.position();
    const forPass = this.#passDue() ? Math.max(1, Math.floor(max / 2)) : 0;
    const { changed, position } =
      max > forPass ? await opStore.changes(this.#position, max - forPass) : { changed: [], position: this.#position };
    const asked = forPass === 0 ? 0 : max - changed.length;
    const listed = asked === 0 ? [] : await opStore.streams(this.#passedThrough(), asked);
    this.#position = position;
    if (asked > 0) this.#pass = this.#passBehind(listed, asked);
    return [...changed, ...listed];
  }

  #passDue(): boolean {
    return this.#pass.kind === 'at' || this.#options.clock.monotonic() >= this.#pass.untilMs;
  }

  #passedThrough(): string | null {
    return this.#pass.kind === 'at' ? this.#pass.after : null;
  }

  #passBehind(listed: readonly StreamHead[], asked: number): Pass {
    const last = listed.at(-1);
    if (last !== undefined && listed.length === asked) return { kind: 'at', after: last.stream };
    return { kind: 'rests', untilMs: this.#options.clock.monotonic() + this.#options.passMs };
  }

  #assertOpen(): void {
    if (this.#closed) throw new Fault('unavailable', 'the feed is closed');
  }
}
