import { spawn, spawnSync } from 'node:child_process';
import { CONSUMER, PUBLISHER, collect, killAfter, killPublishers, publisher, spawnNode } from './spec-processes.ts';
import { ACK_WAIT_MS, SpecQueue, WINDOW, drain, tellAll, textsOf } from './spec-queue.ts';

let queue: SpecQueue;
beforeEach(async () => (queue = await SpecQueue.make()));
afterEach(() => queue.end());

test('BRK-4: after kill -9 of the publisher, again and again, every acknowledged message is in the queue once and in order', async () => {
  const { acknowledged, texts } = await killPublishers(queue, 4);
  expect(texts.length).toBeGreaterThanOrEqual(acknowledged);
  expect(texts).toEqual(texts.map((_, n) => `${n}`));
}, 30_000);

test('BRK-5: what a killed consumer had fetched is delivered to another process after the ack wait', async () => {
  const { broker, worker } = await queue.start();
  await tellAll(broker, 20);
  const fetched = await killAfter(spawnNode(CONSUMER, queue.folder), 20);
  expect(fetched).toHaveLength(20);
  expect(await worker.fetch(100, 0)).toEqual([]);
  await queue.pass(ACK_WAIT_MS);
  const again = await worker.fetch(100, 0);
  expect(again.map(({ attempt }) => attempt)).toEqual(again.map(() => 2));
  expect(textsOf(again)).toEqual(Array.from({ length: 20 }, (_, n) => `${n}`));
});

test('BRK-2: of two processes that publish the same keys at the same time, one stores each', async () => {
  const { worker } = await queue.start();
  const kinds = await Promise.all([publisher(queue, 0, 800), publisher(queue, 0, 800)].map(collect));
  const stored = kinds.flat().filter((line) => line.startsWith('stored'));
  expect(stored).toHaveLength(800);
  expect(kinds.flat().filter((line) => line.startsWith('duplicate'))).toHaveLength(800);
  expect((await drain(worker)).toSorted((a, b) => Number(a) - Number(b))).toEqual(
    Array.from({ length: 800 }, (_, n) => `${n}`),
  );
});

test('OPS-6: publishes whose fsync fails are unknown, those after it are stored, and what was stored survives kill -9', async () => {
  if (spawnSync('strace', ['-V']).status !== 0) return console.warn('skipped: no strace to make an fsync fail with');
  const { worker } = await queue.start();
  const inject = [
    '-f',
    '-qq',
    '-o',
    '/dev/null',
    '-e',
    'trace=fsync,fdatasync',
    '-e',
    'inject=fsync,fdatasync:error=EIO:when=5..6',
  ];
  const child = spawn('strace', [...inject, process.execPath, PUBLISHER, queue.folder, '0', '320'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = await collect(child);
  const kinds = lines.map((line) => line.split(' ')[0]);
  // The second fsync that fails is that of the checkpoint by which the log is put in order again: nothing was begun yet.
  const window = (kind: string) => Array.from({ length: WINDOW }, () => kind);
  const failed = kinds.indexOf('unknown');
  expect(kinds.slice(failed, failed + 3 * WINDOW)).toEqual([
    ...window('unknown'),
    ...window('unavailable'),
    ...window('stored'),
  ]);
  const stored = lines.filter((line) => line.startsWith('stored')).map((line) => line.split(' ')[1]);
  expect(stored).toHaveLength(320 - 2 * WINDOW);
  const inQueue = new Set(await drain(worker));
  expect(stored.filter((text) => !inQueue.has(text!))).toEqual([]);
});
