import type { IncomingMessage } from 'node:http';
import { type Clock, Fault, type Sleeper } from '@tidemark/libs-kernel';
import { type HttpBounds, RETRY_AFTER_MS } from './http-bounds.ts';

type PaceBounds = Pick<HttpBounds, 'bodyBytesPerSecMin' | 'bodyGraceMs' | 'bodyStallMsMax' | 'requestMsMax'>;

/** A body that had not arrived whole when it was last looked at. */
interface Coming {
  readonly raw: IncomingMessage;
  readonly bytesPerSecMin: number;
  /** How long it may go on without a byte. */
  leftMs: number;
  /** What its connection had carried, and when. */
  bytes: number;
  seenMs: number;
  readonly refused: () => void;
}

const SWEEP_MS = 1000;
/** A look after so long comes before what lies in the kernel is read: the process did not run, or its loop was held up. */
const LATE_MS = 2 * SWEEP_MS;

/** Of a body that came slower than it must. */
export class SlowBody extends Fault {
  readonly statusCode = 408;

  constructor(bytesPerSecMin: number) {
    const pace = `${Math.ceil(bytesPerSecMin)} bytes a second`;
    super('deadline', `the body came too slowly: at least ${pace} are expected`, { retryAfterMs: RETRY_AFTER_MS });
  }
}

/** The parser says so of a body that came with its head only after it has been asked for. */
const isHere = (raw: IncomingMessage, lengthBytes: number): boolean =>
  raw.complete || (lengthBytes > 0 && raw.readableLength >= lengthBytes);

/**
 * Holds bodies to a least pace, so that nobody keeps their place for nothing (OPS-4). A body has a grace, each byte of it on the wire adds
 * the time that it may take, and what is saved so has an end:
 *
 *     left = min(left + bytes / pace, bodyStallMsMax) - time passed;  below 0: SlowBody
 *
 * One of a told length must come fast enough to be there in the time that a request has. Those that are open are looked at together once
 * a second; one that is there when its head is costs nothing. Time in which this process did not read is not counted: that of a busy event
 * loop, and that in which bytes lie here and are not taken.
 */
export class BodyPace {
  readonly #bounds: PaceBounds;
  readonly #clock: Clock;
  readonly #sleeper: Sleeper;
  readonly #coming = new Set<Coming>();
  readonly #closed = new AbortController();
  #isAwake = false;

  constructor(bounds: PaceBounds, clock: Clock, sleeper: Sleeper) {
    this.#bounds = bounds;
    this.#clock = clock;
    this.#sleeper = sleeper;
  }

  /**
   * From now on the body is expected; `lengthBytes` is 0 where nobody told it. One that is too slow has `refused` called, and whoever
   * reads it gets the error; its connection is left for the answer. Returns what ends the watch.
   */
  watch(raw: IncomingMessage, lengthBytes: number, refused: () => void): () => void {
    const { bodyBytesPerSecMin, bodyGraceMs, requestMsMax } = this.#bounds;
    if (bodyBytesPerSecMin === 0 || isHere(raw, lengthBytes)) return () => {};
    const coming: Coming = {
      raw,
      bytesPerSecMin: Math.max(bodyBytesPerSecMin, (lengthBytes / requestMsMax) * 1000),
      leftMs: bodyGraceMs,
      // What came with the head counts too.
      bytes: raw.socket.bytesRead - raw.readableLength,
      seenMs: this.#clock.monotonic(),
      refused,
    };
    this.#coming.add(coming);
    if (!this.#isAwake) void this.#sweep();
    return () => this.#coming.delete(coming);
  }

  /** Nobody is waited for any more. */
  close(): void {
    this.#closed.abort();
  }

  async #sweep(): Promise<void> {
    this.#isAwake = true;
    while (this.#coming.size > 0 && !this.#closed.signal.aborted) {
      await this.#sleeper.sleep(SWEEP_MS, this.#closed.signal);
      for (const coming of this.#coming) if (!this.#mayGoOn(coming)) this.#refuse(coming);
    }
    this.#isAwake = false;
  }

  #mayGoOn(coming: Coming): boolean {
    const { raw, bytesPerSecMin, leftMs } = coming;
    if (raw.complete || raw.destroyed) return this.#coming.delete(coming);
    const [bytes, nowMs] = [raw.socket.bytesRead, this.#clock.monotonic()];
    const elapsedMs = nowMs - coming.seenMs;
    const passedMs = raw.readableLength > 0 || elapsedMs >= LATE_MS ? 0 : elapsedMs;
    const earnedMs = ((bytes - coming.bytes) / bytesPerSecMin) * 1000;
    coming.leftMs = Math.min(leftMs + earnedMs, this.#bounds.bodyStallMsMax) - passedMs;
    [coming.bytes, coming.seenMs] = [bytes, nowMs];
    return coming.leftMs >= 0;
  }

  /** Nobody listens where the body was refused for something else, and its rest is dropped. */
  #refuse(coming: Coming): void {
    const { raw, refused, bytesPerSecMin } = coming;
    this.#coming.delete(coming);
    if (raw.listenerCount('error') === 0) return;
    refused();
    raw.emit('error', new SlowBody(bytesPerSecMin));
  }
}
