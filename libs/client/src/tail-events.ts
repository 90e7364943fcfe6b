import { decodePage } from '@tidemark/libs-wire';
import type { StreamItem } from './event-stream-parser.ts';
import { eventStream } from './event-stream.ts';
import { segment } from './path-segment.ts';
import type { Page, PullOptions } from './pull.ts';
import { type Patience, type Service, isTransient, readAs } from './service.ts';
import { ServiceError } from './service-error.ts';
import { unlessAborted } from './tail-poll.ts';

const ENDED = new ServiceError('the stream of events ended', { status: null, outcome: 'not-done' });

/**
 * Pages as they come, by server-sent events, until the signal aborts. A connection that ends, breaks or falls silent is made again from the
 * last page's cursor on; failures in a row are counted, and anything heard ends the row.
 */
export async function* tailByEvents(
  service: Service,
  stream: string,
  since: bigint,
  options: PullOptions,
): AsyncGenerator<Page, void, undefined> {
  const path = `/streams/${segment(stream)}/ops`;
  const row = new FailuresInARow(service, options.signal);
  for (let cursor = since; ;) {
    let ended: unknown = ENDED;
    try {
      for await (const item of connection(service, path, cursor, options)) {
        row.heard(item);
        const page = item.kind === 'event' ? pageIn(item.data) : null;
        if (page === null || page.next <= cursor) continue;
        yield page;
        cursor = page.next;
      }
    } catch (thrown) {
      ended = thrown;
    }
    if ((await unlessAborted(row.failed(ended), options.signal)) === null) return;
  }
}

function connection(service: Service, ops: string, since: bigint, { limit, signal }: PullOptions) {
  const query = new URLSearchParams({ since: String(since) });
  if (limit !== undefined) query.set('limit', String(limit));
  const path = `${ops}?${query}`;
  const { url, ...ask } = service.ask({ method: 'GET', path, signal, headers: { accept: 'text/event-stream' } });
  return eventStream(service.world, url, ask);
}

function pageIn(data: string): Page {
  return readAs(() => decodePage(new TextEncoder().encode(data)), 200);
}

/** When to connect again, and whether at all. */
class FailuresInARow {
  readonly #service: Service;
  readonly #signal: AbortSignal | undefined;
  #patience: Patience | null = null;
  #retryMs = 0;

  constructor(service: Service, signal: AbortSignal | undefined) {
    this.#service = service;
    this.#signal = signal;
  }

  heard(item: StreamItem): void {
    if (item.kind === 'retry') this.#retryMs = item.ms;
    else this.#patience = null;
  }

  async failed(thrown: unknown): Promise<true> {
    this.#patience ??= this.#service.patience(this.#signal);
    await this.#patience.afterFailure(thrown, isTransient, this.#retryMs);
    return true;
  }
}
