import type { Sleeper } from '@tidemark/libs-kernel';

/** Rejects after `ms`, whether the work listens to its signal or not. */
export async function withinDeadline<T>(
  sleeper: Sleeper,
  ms: number,
  work: (late: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const late = new AbortController();
  const passed = async (): Promise<never> => {
    await sleeper.sleep(ms, over.signal);
    late.abort();
    throw new DeadlinePassed(`no answer within ${ms} ms`);
  };
  try {
    return await Promise.race([work(late.signal), passed()]);
  } finally {
    over.abort();
  }
}

export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}
