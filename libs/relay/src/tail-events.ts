import { type Random, type Sleeper, asFault } from '@tidemark/libs-kernel';
import type { TailPage } from './tail-pages.ts';
import type { Seat } from './tail-seats.ts';

export interface EventStreamSettings {
  readonly heartbeatMs: number;
  /** A reader that takes nothing for so long is dropped. */
  readonly slowMs: number;
}

/** Where events go: one client's connection. */
export interface EventSink {
  /** False: it waits in memory, and no more is to be given until it was `taken`. */
  write(bytes: Uint8Array): boolean;
  /** Resolves when what was written is on its way, or the client has gone. */
  taken(): Promise<void>;
  end(): void;
  /** Cuts the connection off. */
  drop(): void;
}

/** Bytes that wait in memory for slow readers, over all of them. */
export interface UnsentBytes {
  total: number;
}

export interface EventStreamOptions extends EventStreamSettings {
  readonly seat: Seat;
  readonly read: (since: bigint, bytesMax: number) => Promise<TailPage>;
  readonly unsent: UnsentBytes;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly log: { warn(fields: object, message: string): void };
  onDelivered(): void;
  onDropped(): void;
}

/** An event ends at this many bytes of ops, but holds at least one op. */
const PAGE_BYTES_MAX = 256 * 1024;
/** A reader must take one piece within slowMs. */
const PIECE_BYTES_MAX = 64 * 1024;
/** While more than this waits over all readers, each gets only a moment to take its piece (OPS-4). */
const UNSENT_BYTES_MAX = 64 * 1024 * 1024;
const MOMENT_MS = 100;
/** When a client whose connection ended comes again: not all of them at the same time. */
const RETRY_MS = { least: 1000, spread: 2000 };

const HEARTBEAT = Buffer.from(':\n\n');

/**
 * The pages of a stream as server-sent events, each with the cursor behind it as its id: a client that was cut off resumes after the
 * last event that it has whole, so that it sees every op once and in order.
 */
export class EventStream {
  readonly #options: EventStreamOptions;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  /** Gives the seat back without a stream. */
  leave(): void {
    this.#options.seat.leave();
  }

  /**
   * Writes events until the client has gone, was dropped, may read no more, the relay stops or the store fails. Never rejects; leaves its
   * seat. `mayGoOn` is asked before each page, and at each heartbeat; when it fails, the stream ends.
   */
  async run(sink: EventSink, mayGoOn: () => Promise<boolean>): Promise<void> {
    const { seat, log } = this.#options;
    try {
      const taken = await this.#write(sink, mayGoOn);
      if (!taken) this.#options.onDropped();
      if (taken) sink.end();
      else sink.drop();
    } catch (thrown) {
      log.warn({ error: asFault(thrown).message }, 'a stream of events ended');
      sink.end();
    } finally {
      seat.leave();
    }
  }

  /** False: the reader took nothing. */
  async #write(sink: EventSink, mayGoOn: () => Promise<boolean>): Promise<boolean> {
    const { seat, read, heartbeatMs, random, sleeper } = this.#options;
    const retryMs = Math.floor(RETRY_MS.least + RETRY_MS.spread * random.fraction());
    if (!(await this.#give(sink, Buffer.from(`retry: ${retryMs}\n\n`)))) return false;
    while (!seat.over && (await mayGoOn())) {
      const seen = seat.signs;
      const page = await read(seat.at, PAGE_BYTES_MAX);
      if (page.next === seat.at) {
        await seat.next(seen, heartbeatMs);
        if (seat.signs === seen && !seat.over && !(await this.#give(sink, HEARTBEAT))) return false;
        continue;
      }
      seat.at = page.next;
      if (!(await this.#give(sink, frameOf(page)))) return false;
      this.#options.onDelivered();
      await sleeper.sleep(0); // A reader that is far behind must not keep the others from running.
    }
    return true;
  }

  async #give(sink: EventSink, bytes: Uint8Array): Promise<boolean> {
    for (let from = 0; from < bytes.length; from += PIECE_BYTES_MAX) {
      const piece = bytes.subarray(from, from + PIECE_BYTES_MAX);
      if (!sink.write(piece) && !(await this.#taken(sink, bytes.length - from))) return false;
    }
    return true;
  }

  async #taken(sink: EventSink, bytes: number): Promise<boolean> {
    const { unsent, sleeper, slowMs } = this.#options;
    const taken = new AbortController();
    void sink.taken().then(() => taken.abort());
    unsent.total += bytes;
    await sleeper.sleep(unsent.total > UNSENT_BYTES_MAX ? MOMENT_MS : slowMs, taken.signal);
    unsent.total -= bytes;
    return taken.signal.aborted;
  }
}

const END = Buffer.from('\n\n');

/** Made once for all readers that share the page. A page has no line breaks: it is compact JSON. */
const frames = new WeakMap<TailPage, Buffer>();

function frameOf(page: TailPage): Buffer {
  const frame = frames.get(page) ?? Buffer.concat([Buffer.from(`id: ${page.next}\ndata: `), page.bytes, END]);
  frames.set(page, frame);
  return frame;
}
