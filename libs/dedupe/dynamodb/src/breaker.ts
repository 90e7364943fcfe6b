const FAILURES_MAX = 5;
const WINDOW_MS = 1000;
const OPEN_MS = 1000;

/**
 * Keeps reserves from a table that does not answer. Five of them that found it unavailable, one after another and within a second, open it
 * for a second, in which none is sent. It counts reserves, not the puts of one: a wide reserve that is throttled says no more than a narrow
 * one. An answer of any kind ends the row.
 */
export interface BreakerState {
  /** When the last reserves failed, in a row, on the monotonic clock. */
  readonly failedAtMs: readonly number[];
  readonly openUntilMs: number;
}

export const CLOSED: BreakerState = { failedAtMs: [], openUntilMs: -Infinity };

export function afterFailure(state: BreakerState, nowMs: number): BreakerState {
  const failedAtMs = [...state.failedAtMs.filter((atMs) => nowMs - atMs <= WINDOW_MS), nowMs];
  if (failedAtMs.length < FAILURES_MAX) return { ...state, failedAtMs };
  return { failedAtMs: [], openUntilMs: nowMs + OPEN_MS };
}

export function afterAnswer(state: BreakerState): BreakerState {
  return { ...state, failedAtMs: [] };
}

/** 0: reserves are sent. */
export function openForMs(state: BreakerState, nowMs: number): number {
  return Math.max(0, state.openUntilMs - nowMs);
}
