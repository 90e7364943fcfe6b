import { type BreakerState, CLOSED, afterAnswer, afterFailure, openForMs } from './breaker.ts';

const failuresAt = (...atMs: number[]): BreakerState => atMs.reduce(afterFailure, CLOSED);

describe('the breaker', () => {
  // kills: breaker.ts: failedAtMs.length < FAILURES_MAX => failedAtMs.length <= FAILURES_MAX
  test('DDP-6: five failures in a row within a second open it for a second', () => {
    const state = failuresAt(0, 250, 500, 750, 1000);
    expect([1000, 1999, 2000].map((atMs) => openForMs(state, atMs))).toEqual([1000, 1, 0]);
    expect(openForMs(failuresAt(0, 0, 0, 0), 0)).toBe(0);
  });

  // kills: breaker.ts: nowMs - atMs <= WINDOW_MS => true
  test('DDP-6: failures that are spread over more than a second do not', () => {
    expect(openForMs(failuresAt(0, 250, 500, 750, 1001), 1001)).toBe(0);
    expect(openForMs(failuresAt(0, 250, 500, 750, 1001, 1250), 1250)).toBe(1000);
  });

  // kills: breaker.ts: return { ...state, failedAtMs: [] } => return state
  test('DDP-6: an answer ends the row, and does not close what is open', () => {
    expect(openForMs([0, 0, 0, 0].reduce(afterFailure, afterAnswer(failuresAt(0, 0, 0, 0))), 0)).toBe(0);
    const open = afterAnswer(failuresAt(0, 0, 0, 0, 0));
    expect(openForMs(open, 10)).toBe(990);
  });

  // kills: breaker.ts: return { failedAtMs: [] => return { failedAtMs
  test('DDP-6: after it was open it takes five more to open it again', () => {
    const closedAgain = failuresAt(0, 0, 0, 0, 0);
    expect(openForMs([1000, 1000, 1000, 1000].reduce(afterFailure, closedAgain), 1000)).toBe(0);
    expect(openForMs([1000, 1000, 1000, 1000, 1000].reduce(afterFailure, closedAgain), 1000)).toBe(1000);
  });
});
