import { randomBytes } from 'node:crypto';
import type { Clock, Random, Sleeper } from '@tidemark/libs-kernel';

/** The real world, behind kernel's interfaces. Everything below the apps gets it from here. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

export const systemRandom: Random = {
  bytes: (n) => randomBytes(n),
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
