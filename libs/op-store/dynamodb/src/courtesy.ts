/** After so long of its own rounds alone, a process leaves the stream to others for a moment. */
export const HOLD_MS_MAX = 2000;
/** The same where another writer was met of late. */
export const CONTENDED_HOLD_MS_MAX = 500;
const OF_LATE_MS = 10_000;
/** Longer than the waits between lost rounds. */
const WAITS_MS = 80;

/**
 * When a writer of a stream should leave a turn to others.
 *
 * Who stored the last round knows the counter first, and so wins the next one: a writer that lost hears of the counter when it has moved on
 * already. A busy process would shut the others out until it has nothing left to store. So it pauses now and then, long enough for a lost
 * round to be answered, and another one to arrive:
 *
 *     this process  ──●──●──●──●──●              ●── lost, and so on
 *     another       ─lost──lost──lost──lost──●──●
 *                                        └ pause ┘
 *
 * Times are monotonic milliseconds.
 */
export class Courtesy {
  #holdsSinceMs = 0;
  #storedAtMs = -Infinity;
  #lostAtMs = -Infinity;
  #pauseMs = 0;

  /** A round that was sent at `sentAtMs` is stored. */
  stored(sentAtMs: number, nowMs: number): void {
    if (sentAtMs - this.#storedAtMs > this.#pauseMs) this.#holdsSinceMs = sentAtMs;
    this.#storedAtMs = nowMs;
    this.#pauseMs = 2 * (nowMs - sentAtMs) + WAITS_MS;
  }

  /** A round met another writer. */
  lost(nowMs: number): void {
    this.#lostAtMs = nowMs;
  }

  /** How long the next round waits. */
  pauseMs(nowMs: number): number {
    const holdMsMax = nowMs - this.#lostAtMs < OF_LATE_MS ? CONTENDED_HOLD_MS_MAX : HOLD_MS_MAX;
    if (this.#storedAtMs - this.#holdsSinceMs < holdMsMax) return 0;
    return Math.max(0, this.#storedAtMs + this.#pauseMs - nowMs);
  }
}
