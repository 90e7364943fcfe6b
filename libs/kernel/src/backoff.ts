import type { Random } from './random.ts';

export interface BackoffShape {
  /** Ceiling of the first wait, in milliseconds. */
  readonly baseMs: number;
  /** No wait is longer than this. */
  readonly ceilingMs: number;
}

/**
 * Full jitter: uniform in [0, min(ceilingMs, baseMs * 2^attempt)), attempt counted from 0.
 * Spreads writers that lost the same race, so that they do not meet again.
 */
export function backoffMs(attempt: number, shape: BackoffShape, random: Random): number {
  const ceilingMs = Math.min(shape.ceilingMs, shape.baseMs * 2 ** Math.min(attempt, 30));
  return random.fraction() * ceilingMs;
}
