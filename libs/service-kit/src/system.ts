import { randomBytes } from 'node:crypto';
import type { Clock, Random, Sleeper } from '@tidemark/libs-kernel';

/** The real world, behind kernel's interfaces. Everything below the apps gets it from here. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Drawn at once: asking the system for the few bytes of a trace id took 5 % of a small push's time. */
const POOL_BYTES = 4096;
let pool = new Uint8Array(0);
let taken = 0;

function pooledBytes(n: number): Uint8Array {
  if (n > POOL_BYTES / 8) return randomBytes(n);
  if (taken + n > pool.length) {
    pool = new Uint8Array(randomBytes(POOL_BYTES));
    taken = 0;
  }
  return pool.slice(taken, (taken += n));
}

export const systemRandom: Random = {
  bytes: pooledBytes,
  fraction: () => Math.random(),
};

export const systemSleeper: Sleeper = {
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      // A timer of 0 ms takes 1 ms; who only lets others run first must not pay that.
      if (ms <= 0) return void setImmediate(resolve);
      const wake = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      // A longer time would end at once; who wants it wakes after 24 days and looks again.
      const timer = setTimeout(wake, Math.min(ms, 2 ** 31 - 1));
      signal?.addEventListener('abort', wake, { once: true });
    }),
};
