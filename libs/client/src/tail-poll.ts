import { type Page, type PullOptions, pullPage } from './pull.ts';
import type { Service } from './service.ts';

export interface TailOptions extends PullOptions {
  /** How long the relay may hold an answer back, in whole seconds up to 55; default 25. */
  readonly waitSecs?: number;
}

const WAIT_SECS = 25;
/** A relay that does not wait, or is not asked to, is asked no more often than this. */
const POLL_MS = 1000;

/** Pages as they come, by long poll, until the signal aborts. */
export async function* tailByPolls(
  service: Service,
  stream: string,
  since: bigint,
  options: TailOptions,
): AsyncGenerator<Page, void, undefined> {
  const { clock, sleeper } = service.world;
  const { waitSecs = WAIT_SECS, signal } = options;
  for (let cursor = since; ;) {
    const askedAtMs = clock.monotonic();
    const page = await unlessAborted(pullPage(service, stream, cursor, { ...options, waitSecs }), signal);
    if (page === null) return;
    if (page.next === cursor) {
      const leftMs = POLL_MS - (clock.monotonic() - askedAtMs);
      if (leftMs > 0) await sleeper.sleep(leftMs, signal);
      continue;
    }
    yield page;
    cursor = page.next;
  }
}

/** null: the signal ended it, which is how a tail ends. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T | null> {
  try {
    return await work;
  } catch (thrown) {
    if (signal?.aborted) return null;
    throw thrown;
  }
}
