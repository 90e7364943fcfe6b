import 'reflect-metadata';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { MemoryChangeLog, MemoryFeed } from '@tidemark/libs-feed-contract/testing';
import { FoldWorker, eventReducer } from '@tidemark/libs-fold';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { MemoryOpStore, anOp } from '@tidemark/libs-op-store-contract/testing';
import { Metrics, createHttp, createLog, systemClock, systemSleeper } from '@tidemark/libs-service-kit';
import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import { AppModule } from './app.module.ts';
import { foldWorker } from './fold-worker.ts';

let app: NestFastifyApplication;
let worker: FoldWorker;
let opStore: MemoryOpStore;
let changes: MemoryChangeLog;

beforeEach(async () => {
  changes = new MemoryChangeLog();
  opStore = new MemoryOpStore();
  const views = new MemoryViews();
  const real = { clock: systemClock, sleeper: systemSleeper, random: new SeededRandom(1) };
  const feed = new MemoryFeed(changes, systemSleeper);
  worker = new FoldWorker({ feed, opStore, views, reducers: [eventReducer], ...real });
  const module = AppModule.create({ worker, views, stopping: new AbortController().signal });
  const parts = {
    log: createLog('fold-worker', 'silent'),
    metrics: new Metrics('fold-worker'),
    clock: systemClock,
    stopping: new AbortController().signal,
  };
  app = await createHttp(module, foldWorker.http, parts);
  await app.listen(0, '127.0.0.1');
});

afterEach(() => app.close());

async function append(...ids: string[]): Promise<void> {
  const ops = ids.map((id, i) =>
    anOp({
      opId: `${id}-${i}`,
      domain: 'event',
      targetKind: 'events',
      targetId: id,
      field: 'body',
      opType: 'set',
      value: `{"n":${i}.0}`,
      lamport: BigInt(i),
    }),
  );
  const outcomes = await opStore.append('0.events', ops);
  changes.announce('0.events', outcomes.at(-1)?.seq ?? 0n);
}

const get = async (path: string) => fetch(`${await app.getUrl()}/v1/streams/0.events/${path}`);
const text = async (path: string) => (await get(path)).text();

test('FLD-8: a document comes with the JSON that was written, its version and the mark', async () => {
  await append('a', 'a');
  await worker.tick();
  expect(await text('documents/events/a')).toBe(
    '{"stream":"0.events","kind":"events","id":"a","fields":{"body":{"n":1.0}},' +
      `"versions":{"body":{"lamport":1,"site":${anOp().site},"seq":2}},"folded_through":2}`,
  );
});

test('FLD-8: documents of a kind come in pages', async () => {
  await append('c', 'a', 'b');
  await worker.tick();
  const first = JSON.parse(await text('documents/events?limit=2')) as { documents: { id: string }[]; next: string };
  expect([first.documents.map(({ id }) => id), first.next]).toEqual([['a', 'b'], 'b']);
  const rest = JSON.parse(await text('documents/events?limit=2&after=b')) as typeof first;
  expect([rest.documents.map(({ id }) => id), rest.next]).toEqual([['c'], null]);
});

test('FLD-8: min_seq waits until the stream is folded so far', async () => {
  await append('a');
  const waiting = text('watermark?min_seq=1&wait=50');
  const stop = new AbortController();
  const running = worker.run(stop.signal);
  expect(await waiting).toContain('"folded_through":1');
  stop.abort();
  await running;
});

test('FLD-8: a wait that ends too early is 504 with the mark', async () => {
  await append('a');
  await worker.tick();
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
    'documents/events?limit=-1',
  ]) {
    expect((await get(path)).status).toBe(400);
  }
});
