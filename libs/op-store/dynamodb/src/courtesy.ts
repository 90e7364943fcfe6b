/** A process leaves the stream to others after so many times the length of a pause. */
const HELD_PAUSES_MAX = 20;
/** The same where another writer was met of late. */
const CONTENDED_PAUSES_MAX = 6;
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
  /** Since when it was this process alone that stored. */
  #holdsSinceMs: number | null = null;
  #storedAtMs = -Infinity;
  #lostAtMs = -Infinity;
  #pauseMs = 0;

  /** A round that was sent at `sentAtMs` is stored. */
  stored(sentAtMs: number, nowMs: number): void {
    const wasIdle = sentAtMs - this.#storedAtMs > this.#pauseMs;
    if (this.#holdsSinceMs === null || wasIdle) this.#holdsSinceMs = sentAtMs;
    this.#storedAtMs = nowMs;
    this.#pauseMs = 2 * (nowMs - sentAtMs) + WAITS_MS;
  }

  /** A round met another writer. */
  lost(nowMs: number): void {
    this.#lostAtMs = nowMs;
    this.#holdsSinceMs = null;
  }

  /** How long the next round is to wait. It is for the caller to wait: who asks again is told 0. */
  pauseMs(nowMs: number): number {
    const since = this.#holdsSinceMs;
    const pausesMax = nowMs - this.#lostAtMs < OF_LATE_MS ? CONTENDED_PAUSES_MAX : HELD_PAUSES_MAX;
    if (since === null || this.#storedAtMs - since < pausesMax * this.#pauseMs) return 0;
    this.#holdsSinceMs = null;
    return Math.max(0, this.#storedAtMs + this.#pauseMs - nowMs);
  }
}
