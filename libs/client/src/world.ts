import type { Clock, Random, Sleeper } from '@tidemark/libs-kernel';

/** What a client needs of the world around it. Tests bring their own. */
export interface World {
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
  readonly fetch: typeof fetch;
}

/** The globals that {@link worldOf} uses. */
export interface Platform<Timer> {
  readonly Date: { now(): number };
  readonly Math: { random(): number };
  readonly performance: { now(): number };
  readonly crypto: { getRandomValues(bytes: Uint8Array<ArrayBuffer>): unknown };
  readonly fetch: typeof fetch;
  setTimeout(wake: () => void, ms: number): Timer;
  clearTimeout(timer: Timer): void;
}

/** The real world: `worldOf(globalThis)`. */
export function worldOf<Timer>(platform: Platform<Timer>): World {
  return {
    clock: { now: () => platform.Date.now(), monotonic: () => platform.performance.now() },
    sleeper: { sleep: (ms, signal) => sleep(platform, ms, signal) },
    random: { bytes: (n) => randomBytes(platform, n), fraction: () => platform.Math.random() },
    fetch: (input, init) => platform.fetch(input, init),
  };
}

/** What a timer takes: 24 days. Who wants to sleep longer wakes and looks again. */
const TIMER_MS_MAX = 2 ** 31 - 1;

function sleep<Timer>(platform: Platform<Timer>, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      platform.clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    // A longer time would end at once.
    const timer = platform.setTimeout(wake, Math.min(ms, TIMER_MS_MAX));
    signal?.addEventListener('abort', wake, { once: true });
  });
}

function randomBytes<Timer>(platform: Platform<Timer>, n: number): Uint8Array {
  const bytes = new Uint8Array(n);
  platform.crypto.getRandomValues(bytes);
  return bytes;
}
