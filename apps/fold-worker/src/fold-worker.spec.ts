import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { startFold } from './spec-fold.ts';

let fold: Awaited<ReturnType<typeof startFold>>;

beforeEach(async () => {
  fold = await startFold();
});
afterEach(() => fold.close());

const append = (...ids: string[]) => fold.append(...ids);
const get = (path: string) => fetch(`${fold.url}/v1/streams/0.events/${path}`);
const text = async (path: string) => (await get(path)).text();

test('FLD-8: a document comes with the JSON that was written, its version and the mark', async () => {
  await append('a', 'a');
  await fold.worker.tick();
  expect(await text('documents/events/a')).toBe(
    '{"stream":"0.events","kind":"events","id":"a","fields":{"body":{"n":1.0}},' +
      `"versions":{"body":{"lamport":1,"site":${anOp().site},"seq":2}},"folded_through":2}`,
  );
});

test('FLD-8: documents of a kind come in pages', async () => {
  await append('c', 'a', 'b');
  await fold.worker.tick();
  const first = JSON.parse(await text('documents/events?limit=2')) as { documents: { id: string }[]; next: string };
  expect([first.documents.map(({ id }) => id), first.next]).toEqual([['a', 'b'], 'b']);
  const rest = JSON.parse(await text('documents/events?limit=2&after=b')) as typeof first;
  expect([rest.documents.map(({ id }) => id), rest.next]).toEqual([['c'], null]);
});

test('FLD-8: min_seq waits until the stream is folded so far', async () => {
  await append('a');
  const waiting = text('watermark?min_seq=1&wait=50');
  const stop = new AbortController();
  const running = fold.worker.run(stop.signal);
  expect(await waiting).toContain('"folded_through":1');
  stop.abort();
  await running;
});

test('FLD-8: min_op waits until the op of that id is folded, also before the log holds it', async () => {
  const waiting = text('watermark?min_op=a-0&wait=50');
  await append('a');
  await fold.worker.tick();
  expect(await waiting).toContain('"folded_through":1');
  expect(await text('documents/events/a?min_op=a-0')).toContain('"id":"a"');
});

// kills: wait.ts: whenGone(request, reply) => parts.stopping
test.each(['min_seq=1', 'min_op=a-0'])('FLD-8: a reader that has gone is not waited for (%s)', async (how) => {
  await append('a');
  const { worker } = fold;
  const waitFor = worker.waitFor.bind(worker);
  const waits: Promise<unknown>[] = [];
  const began = new Promise<void>((resolve) => {
    worker.waitFor = (...wait) => {
      const waiting = waitFor(...wait);
      waits.push(waiting);
      resolve();
      return waiting;
    };
  });
  const leaves = new AbortController();
  const reading = fetch(`${fold.url}/v1/streams/0.events/watermark?${how}&wait=55`, { signal: leaves.signal });
  await began;
  leaves.abort();
  await expect(reading).rejects.toThrow('abort');
  await Promise.all(waits);
});

test('FLD-8: an op that is not there in time is 504 with the mark', async () => {
  await append('a');
  await fold.worker.tick();
  const late = await get('documents/events/a?min_op=none&wait=0');
  expect([late.status, await late.json()]).toEqual([
    504,
    { error: 'not folded in time: the log does not hold the op yet', folded_through: 1 },
  ]);
});

test('FLD-8: a wait that ends too early is 504 with the mark', async () => {
  await append('a');
  await fold.worker.tick();
  const late = await get('documents/events/a?min_seq=2&wait=0');
  expect(late.status).toBe(504);
  expect(await late.json()).toEqual({ error: 'not folded through 2 in time', folded_through: 1 });
  expect(late.headers.get('tidemark-outcome')).toBe('not-done');
});

test('an unknown document is 404, an unknown stream is folded through 0, bad parameters are 400', async () => {
  expect((await get('documents/events/none')).status).toBe(404);
  expect(await text('watermark')).toContain('"folded_through":0');
  for (const path of [
    'watermark?min_seq=-1',
    'watermark?min_seq=x',
    'watermark?min_seq=1&wait=99',
    'watermark?min_op=',
    'watermark?min_op=a&min_seq=1',
    'documents/events?limit=-1',
  ]) {
    expect((await get(path)).status).toBe(400);
  }
});
