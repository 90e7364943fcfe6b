import { setImmediate as breath, setTimeout as wait } from 'node:timers/promises';
import type { Clock, Sleeper } from '@tidemark/libs-kernel';

export const clock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

export const sleeper: Sleeper = {
  sleep: async (ms, signal) => {
    if (ms === 0) await breath();
    else await wait(ms, undefined, { ...(signal && { signal }) }).catch(() => {});
  },
};
