import { readFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { SpecQueue, TENANT, TOPIC, drain, tell, tellAll } from './spec-queue.ts';

let queue: SpecQueue;
beforeEach(async () => (queue = await SpecQueue.make()));
afterEach(() => queue.end());

test('BRK-4: 256 publishes in flight together are one transaction, which is one fsync', async () => {
  const { broker } = await queue.start();
  const before = transactions();
  const outcomes = await tellAll(broker, 256);
  expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['stored']));
  expect(transactions() - before).toBe(1);
});

test('BRK-4: publishes awaited one by one are a transaction each', async () => {
  const { broker } = await queue.start();
  const before = transactions();
  for (let n = 0; n < 5; n++) await tell(broker, `${n}`);
  expect(transactions() - before).toBe(5);
});

test('BRK-2: a window of repeats writes nothing', async () => {
  const { broker } = await queue.start();
  await tell(broker, 'a', 'key');
  const before = transactions();
  const outcomes = await Promise.all([tell(broker, 'a', 'key'), tell(broker, 'a', 'key')]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['duplicate', 'duplicate']);
  expect(transactions() - before).toBe(0);
});

test('ING-2: each publish of a transaction has its own outcome', async () => {
  const { broker, worker } = await queue.start({ bodyBytesMax: 1000 }, 1500n);
  const outcomes = await Promise.all([
    tell(broker, 'a', 'key'),
    tell(broker, 'a again', 'key'),
    tell(broker, ''.padEnd(1001)),
    broker.publish({ ...TOPIC, tenant: 'nobody' }, Buffer.from('b')),
    tell(broker, ''.padEnd(1000)),
    tell(broker, ''.padEnd(1000)),
    tell(broker, 'c'),
  ]);
  const kinds = ['stored', 'duplicate', 'too_large', 'full', 'stored', 'full', 'stored'];
  expect(outcomes.map(({ kind }) => kind)).toEqual(kinds);
  expect(await drain(worker)).toEqual(['a', ''.padEnd(1000), 'c']);
});

test('OPS-4: a transaction takes a thousand writes or eight megabytes, the rest waits for the next', async () => {
  const { broker, worker } = await queue.start();
  // Who reads keeps the log from starting over, so that it can be counted.
  const reader = new Sqlite(queue.file);
  reader.exec('BEGIN; SELECT * FROM queues');
  const before = transactions();
  await tellAll(broker, 2500);
  expect(transactions() - before).toBe(3);
  await tellAll(broker, 20, () => ''.padEnd(1_000_000));
  expect(transactions() - before).toBe(3 + 3);
  reader.close();
  expect((await drain(worker)).slice(0, 2500)).toEqual(Array.from({ length: 2500 }, (_, n) => `${n}`));
});

test('BRK-4: while another process writes, a publish waits for its turn', async () => {
  const { broker } = await queue.start();
  const other = new Sqlite(queue.file);
  other.exec('BEGIN IMMEDIATE');
  const telling = tell(broker, 'a');
  await queue.pass(300);
  other.exec('COMMIT');
  await queue.pass(300);
  expect((await telling).kind).toBe('stored');
  other.close();
});

test('OPS-6: when another process does not stop writing, a publish is unavailable and an ack a fault, after five seconds', async () => {
  const { broker, worker } = await queue.start();
  await tell(broker, 'a');
  const deliveries = await worker.fetch(1, 0);
  const other = new Sqlite(queue.file);
  other.exec('BEGIN IMMEDIATE');
  const acking = expect(worker.ack(deliveries)).rejects.toMatchObject({ code: 'unavailable', outcome: 'not-done' });
  const telling = tell(broker, 'b');
  await queue.pass(5500);
  expect(await telling).toEqual({ kind: 'unavailable', detail: expect.stringContaining('SQLITE_BUSY') });
  await acking;
  other.exec('COMMIT');
  other.close();
  expect((await broker.stats(TENANT)).messages).toBe(1n);
});

test('BRK-4: closing lets the writes that wait end', async () => {
  const { broker } = await queue.start();
  const telling = tellAll(broker, 10);
  await broker.close();
  expect(new Set((await telling).map(({ kind }) => kind))).toEqual(new Set(['stored']));
  const { worker } = await queue.start();
  expect(await drain(worker)).toHaveLength(10);
});

/** Committed transactions in SQLite's log: frames whose header names the file's size after the commit. */
function transactions(): number {
  const log = readFileSync(`${queue.file}-wal`);
  const frameBytes = 24 + log.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    const ofThisLog = log.readUInt32BE(at + 8) === log.readUInt32BE(16);
    if (ofThisLog && log.readUInt32BE(at + 4) !== 0) commits++;
  }
  return commits;
}
