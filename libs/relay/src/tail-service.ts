import type { Clock, Random, Sleeper } from '@tidemark/libs-kernel';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { encodePage } from '@tidemark/libs-wire';
import { type AboveHead, aboveHead } from './tail-cursor.ts';
import { EventStream, type EventStreamSettings, type UnsentBytes } from './tail-events.ts';
import type { TailHub } from './tail-hub.ts';
import { type TailPage, TailPages } from './tail-pages.ts';
import type { Seat } from './tail-seats.ts';

export interface TailServiceOptions {
  readonly opStore: Pick<OpStore, 'read' | 'head'>;
  readonly hub: Pick<TailHub, 'wait' | 'news'>;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log: { warn(fields: object, message: string): void };
  readonly metrics: {
    /** Ops were handed over, so long after the sign that they are there. */
    delivered(ms: number): void;
    /** A reader of events was dropped because it took nothing. */
    dropped(): void;
  };
  /** A cursor above the head is told so by pulls too, not only by streams of events. */
  readonly strictCursor: boolean;
  readonly events: EventStreamSettings;
}

export type { AboveHead } from './tail-cursor.ts';

export type Pulled = { readonly kind: 'page'; readonly page: TailPage } | AboveHead;
export type Followed = { readonly kind: 'events'; readonly events: EventStream } | AboveHead;

/** Serves the ops after a cursor: at once, when there are some (long poll), or as they come (a stream of events). */
export class TailService {
  readonly #options: TailServiceOptions;
  readonly #pages: TailPages;
  readonly #unsent: UnsentBytes = { total: 0 };

  constructor(options: TailServiceOptions) {
    this.#options = options;
    this.#pages = new TailPages(options.opStore, () => options.hub.news);
  }

  /**
   * The first page that moves the cursor; after `waitMs`, when `gone` aborts or the relay
   * stops the page that does not (also a negative cursor stands still). Nothing but such a cursor is the end of a stream.
   * Faults: `overloaded` (too many wait), those of the store.
   */
  async pull(stream: string, since: bigint, limit: number, waitMs: number, gone: AbortSignal): Promise<Pulled> {
    if (limit === 0) return { kind: 'page', page: { bytes: encodePage([], since), next: since } };
    const startedAtMs = this.#options.clock.monotonic();
    const page = await this.#pages.read(stream, since, limit);
    if (page.next !== since) return { kind: 'page', page };
    if (this.#options.strictCursor) {
      const above = await aboveHead(this.#options.opStore, stream, since);
      if (above !== null) return above;
    }
    if (waitMs === 0) return { kind: 'page', page };
    const seat = await this.#options.hub.wait(stream, gone);
    try {
      return { kind: 'page', page: await this.#firstPage(seat, stream, since, limit, startedAtMs + waitMs) };
    } finally {
      seat.leave();
    }
  }

  async #firstPage(seat: Seat, stream: string, since: bigint, limit: number, endsAtMs: number): Promise<TailPage> {
    seat.at = since;
    for (;;) {
      const seen = seat.signs;
      const page = await this.#pages.shared(stream, since, limit);
      if (page.next !== since) this.#delivered(seat);
      const leftMs = endsAtMs - this.#options.clock.monotonic();
      if (page.next !== since || leftMs <= 0 || seat.over) return page;
      await seat.next(seen, leftMs);
    }
  }

  /** A seat is taken for the stream of events; whoever gets it runs it or ends it. Always judges the cursor. Faults as for a pull. */
  async follow(stream: string, since: bigint, limit: number, gone: AbortSignal): Promise<Followed> {
    const seat = await this.#options.hub.wait(stream, gone);
    try {
      const page = await this.#pages.read(stream, since, 1);
      const above = page.next === since ? await aboveHead(this.#options.opStore, stream, since) : null;
      if (above === null) return { kind: 'events', events: this.#eventsOf(seat, stream, since, limit) };
      seat.leave();
      return above;
    } catch (thrown) {
      seat.leave();
      throw thrown;
    }
  }

  #eventsOf(seat: Seat, stream: string, since: bigint, limit: number): EventStream {
    seat.at = since;
    const read = (after: bigint, bytesMax: number) => this.#pages.shared(stream, after, limit, bytesMax);
    const { metrics, events } = this.#options;
    return new EventStream({
      ...this.#options,
      ...events,
      seat,
      read,
      unsent: this.#unsent,
      onDelivered: () => this.#delivered(seat),
      onDropped: () => metrics.dropped(),
    });
  }

  #delivered(seat: Seat): void {
    const ms = seat.answered();
    if (ms !== undefined) this.#options.metrics.delivered(ms);
  }
}
