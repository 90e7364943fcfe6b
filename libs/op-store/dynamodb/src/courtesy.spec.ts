import { Courtesy } from './courtesy.ts';

const ROUND_MS = 10;
/** Twice a round and the waits of those who lost. */
const PAUSE_MS = 2 * ROUND_MS + 80;

/** Stores one round after another until it is to pause; answers for how long it stored, and the pause. */
function holds(courtesy: Courtesy, fromMs: number): { heldMs: number; pauseMs: number } {
  for (let nowMs = fromMs; ; nowMs += ROUND_MS) {
    const pauseMs = courtesy.pauseMs(nowMs);
    if (pauseMs > 0) return { heldMs: nowMs - fromMs, pauseMs };
    courtesy.stored(nowMs, nowMs + ROUND_MS);
  }
}

describe('a writer that stores round after round', () => {
  it('RLY-11: pauses after 20 times the pause, and goes on after it', () => {
    const courtesy = new Courtesy();
    const first = holds(courtesy, 5000);
    expect(first).toEqual({ heldMs: 20 * PAUSE_MS, pauseMs: PAUSE_MS });
    const second = 5000 + first.heldMs + first.pauseMs;
    expect(holds(courtesy, second)).toEqual(first);
  });

  it('RLY-11: pauses sooner when it met another of late', () => {
    const courtesy = new Courtesy();
    courtesy.lost(5000);
    expect(holds(courtesy, 5000)).toEqual({ heldMs: 6 * PAUSE_MS, pauseMs: PAUSE_MS });
    expect(holds(courtesy, 50_000).heldMs).toBe(20 * PAUSE_MS);
  });

  it('RLY-11: does not pause when it was idle, nor for time that has passed', () => {
    const courtesy = new Courtesy();
    for (let nowMs = 0; nowMs < 20_000; nowMs += PAUSE_MS + ROUND_MS + 1) {
      expect(courtesy.pauseMs(nowMs)).toBe(0);
      courtesy.stored(nowMs, nowMs + ROUND_MS);
    }
    const busy = new Courtesy();
    for (let nowMs = 0; nowMs <= 20 * PAUSE_MS; nowMs += ROUND_MS) busy.stored(nowMs, nowMs + ROUND_MS);
    expect(busy.pauseMs(20 * PAUSE_MS + ROUND_MS + 70)).toBe(PAUSE_MS - 70);
  });

  it('RLY-11: begins anew after a lost round', () => {
    const courtesy = new Courtesy();
    for (let nowMs = 0; nowMs <= 20 * PAUSE_MS; nowMs += ROUND_MS) courtesy.stored(nowMs, nowMs + ROUND_MS);
    courtesy.lost(20 * PAUSE_MS + ROUND_MS);
    expect(courtesy.pauseMs(20 * PAUSE_MS + ROUND_MS)).toBe(0);
  });
});
