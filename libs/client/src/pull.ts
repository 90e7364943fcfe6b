import { type Op, decodePage } from '@tidemark/libs-wire';
import { segment } from './path-segment.ts';
import type { CallOptions, Service } from './service.ts';

export interface Page {
  readonly ops: readonly Op[];
  /** The cursor to go on from, once this page's ops have taken effect. Never below the cursor that was asked from. */
  readonly next: bigint;
}

export interface PullOptions extends CallOptions {
  /** Ops in a page at most; the relay's default is 500. */
  readonly limit?: number;
}

/** One page. With `waitSecs` the relay may hold the answer back that long for the first op. */
export async function pullPage(
  service: Service,
  stream: string,
  since: bigint,
  options: PullOptions & { readonly waitSecs?: number },
): Promise<Page> {
  const { limit, waitSecs, signal } = options;
  const query = new URLSearchParams({ since: String(since) });
  if (limit !== undefined) query.set('limit', String(limit));
  if (waitSecs !== undefined) query.set('wait', String(waitSecs));
  const path = `/streams/${segment(stream)}/ops?${query}`;
  const waitMs = (waitSecs ?? 0) * 1000;
  const page = await service.call({ method: 'GET', path, signal, waitMs }, ({ body }) => decodePage(body));
  return { ops: page.ops, next: page.next > since ? page.next : since };
}

/**
 * Page after page until the cursor stands still, which alone is the end of the stream. The next page is fetched when it is asked for, so
 * the caller's work on a page is done by then; the cursor is the caller's to keep: store `page.next` with, or after, what the ops did, and
 * a crash in between leads to the same page again, never to a gap (R37).
 */
export async function* pullPages(
  service: Service,
  stream: string,
  since: bigint,
  options: PullOptions,
): AsyncGenerator<Page, void, undefined> {
  for (let cursor = since; ;) {
    const page = await pullPage(service, stream, cursor, options);
    const still = page.next === cursor;
    if (!still || page.ops.length > 0) yield page;
    if (still) return;
    cursor = page.next;
  }
}
