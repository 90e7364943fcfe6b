import { encodePage } from '@tidemark/libs-wire';
import { connectRelay } from './relay-client.ts';
import { type Script, ScriptedService, answer, broken, opsOf } from './spec-service.ts';
import type { RetryRules } from './service.ts';

const event = (next: bigint, ...ids: string[]) => `id: ${next}\ndata: ${encodePage(opsOf(...ids), next)}\n\n`;
const JSON_TYPE = { 'content-type': 'application/json' };

/** A connection that says these pieces and then ends, breaks (an Error) or stays open (null). */
function connection(pieces: readonly string[], end: 'end' | Error | null = 'end'): Response {
  const left = [...pieces];
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const piece = left.shift();
        if (piece !== undefined) return controller.enqueue(new TextEncoder().encode(piece));
        if (end === null) return new Promise(() => undefined);
        return end === 'end' ? controller.close() : controller.error(end);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

function tailOf(script: Script, retry: Partial<RetryRules> = {}) {
  const service = new ScriptedService(script, { retry });
  const ends = new AbortController();
  const tail = connectRelay(service.options).events('s', 5n, { signal: ends.signal });
  const cursors = () => service.seen.map(({ url }) => new URL(url).searchParams.get('since'));
  return { service, ends, cursors, next: () => service.ended(tail.next()), leave: () => tail.return() };
}

test('RLY-14: events are pages, asked for from the cursor on; heartbeats and repeats are no pages', async () => {
  const { next, service } = tailOf(() =>
    connection(
      ['retry: 9\n\n:\n\n', event(5n, 'old'), event(7n, 'a', 'b').slice(0, 20), event(7n, 'a', 'b').slice(20)],
      null,
    ),
  );
  expect((await next()).value).toEqual({ ops: opsOf('a', 'b'), next: 7n });
  expect(service.seen[0]).toMatchObject({
    url: 'http://service/streams/s/ops?since=5',
    headers: { accept: 'text/event-stream' },
  });
});

test('RLY-14: after an end, a break and a silence it resumes behind the last whole event, at the time it was told', async () => {
  const { next, cursors, service } = tailOf((_, nth) => {
    if (nth === 1) return connection(['retry: 1500\n\n', event(6n, 'a'), event(7n, 'b').slice(0, 30)]);
    if (nth === 2) return connection([event(7n, 'b')], broken());
    return connection([event(8n + BigInt(nth), 'c')], null);
  });
  const seen = [await next(), await next(), await next(), await next()].map(({ value }) => value?.next);
  expect(seen).toEqual([6n, 7n, 11n, 12n]);
  expect(cursors()).toEqual(['5', '6', '7', '11']);
  expect(service.waits.filter((ms) => ms === 1500)).toHaveLength(3);
});

test('a relay that cannot be reached for all attempts in a row ends the tail with the error', async () => {
  const { next, service } = tailOf(() => broken('ECONNREFUSED'), { attemptsMax: 4 });
  await expect(next()).rejects.toMatchObject({ status: null, message: expect.stringContaining('ECONNREFUSED') });
  expect(service.seen).toHaveLength(4);
});

test('what was heard in between ends a row of failures; a connection that says nothing does not', async () => {
  const quiet = tailOf(() => connection(['retry: 1\n\n']), { attemptsMax: 3 });
  await expect(quiet.next()).rejects.toMatchObject({ message: 'the stream of events ended' });
  expect(quiet.service.seen).toHaveLength(3);
  const beating = tailOf((_, nth) => (nth < 9 ? connection([':\n\n']) : connection([event(6n, 'a')])), {
    attemptsMax: 3,
  });
  expect((await beating.next()).value?.next).toBe(6n);
});

test('RLY-17: a cursor above the head ends the tail, and the error tells the head', async () => {
  const { next } = tailOf(() => answer(409, '{"error":"above","head":3}', { ...JSON_TYPE, 'tidemark-head': '3' }));
  await expect(next()).rejects.toMatchObject({ status: 409, head: 3n, outcome: 'not-done' });
});

test.each([
  ['a page instead of events', () => answer(200, `${encodePage([], 5n)}`, JSON_TYPE)],
  ['an event that is no page', () => connection(['data: x\n\n'])],
])('%s ends the tail at once', async (_, script) => {
  const { next, service } = tailOf(script);
  await expect(next()).rejects.toMatchObject({ status: 200 });
  expect(service.seen).toHaveLength(1);
});

test('an abort ends the tail, whether it waits for an event or for the next attempt', async () => {
  const waiting = tailOf(() => null);
  const ended = waiting.next();
  waiting.ends.abort();
  expect(await ended).toEqual({ done: true, value: undefined });
  const failing = tailOf(() => answer(503, '', { 'retry-after': '20' }));
  const next = failing.next();
  while (failing.service.waits.length < 1) await new Promise(setImmediate);
  failing.ends.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});

test('whoever leaves a tail closes its connection', async () => {
  let left: unknown;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(event(6n, 'a'))),
    cancel: (reason) => void (left = reason ?? 'left'),
  });
  const { next, leave } = tailOf(() => new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
  await next();
  await leave();
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  expect(left).toBeDefined();
});
