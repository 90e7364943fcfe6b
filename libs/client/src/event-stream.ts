import { EventStreamParser, type StreamItem } from './event-stream-parser.ts';
import { type Ask, failure, fetched, refused, whole, within } from './exchange.ts';
import { ServiceError } from './service-error.ts';
import type { World } from './world.ts';

/** A relay sends something, a heartbeat at least, more often than this. */
const IDLE_MS = 60_000;

/**
 * The items of one connection, in order; it ends when the connection ends, and throws a ServiceError when it cannot be made, breaks or falls
 * silent. Whoever leaves early closes the connection.
 */
export async function* eventStream(world: World, url: string, ask: Ask): AsyncGenerator<StreamItem, void, undefined> {
  const leave = new AbortController();
  const signal = ask.signal === undefined ? leave.signal : AbortSignal.any([ask.signal, leave.signal]);
  let body: ReadableStreamDefaultReader<Uint8Array> | undefined;
  try {
    body = await within(world.sleeper, ask.timeoutMs, opened(world, url, ask, signal));
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const parser = new EventStreamParser();
    for (;;) {
      const { done, value } = await within(world.sleeper, IDLE_MS, body.read());
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } catch (thrown) {
    throw failure(thrown, ask.signal);
  } finally {
    leave.abort();
    body?.cancel().catch(() => undefined);
  }
}

async function opened(world: World, url: string, ask: Ask, signal: AbortSignal) {
  const response = await fetched(world, url, ask, signal);
  if (response.status !== 200) throw refused(await whole(response), world.clock);
  const type = response.headers.get('content-type') ?? 'nothing';
  if (!type.startsWith('text/event-stream') || response.body === null)
    throw new ServiceError(`no stream of events, but ${type}`, { status: 200, outcome: 'not-done' });
  return response.body.getReader();
}
