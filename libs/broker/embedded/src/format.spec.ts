import { writeFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { SpecQueue, TENANT, drain, tell } from './spec-queue.ts';

let queue: SpecQueue;
beforeEach(async () => (queue = await SpecQueue.make()));
afterEach(() => queue.end());

test('OPS-5: a file of a newer format is refused in one line', async () => {
  await (await queue.open()).close();
  change('PRAGMA user_version = 3');
  await expect(queue.open()).rejects.toMatchObject({
    code: 'misconfigured',
    message: `${queue.file}: format 3 is newer than 2, the newest that this build reads`,
  });
});

// kills: format.ts: else if (isBehind(format)) addStoredAt => else if (isBehind('foreign')) addStoredAt
test('OPS-5: a file of format 1 is brought up to date with what it holds, also under a process that has it open', async () => {
  const { broker: old } = await queue.start();
  await tell(old, 'a');
  change('ALTER TABLE messages DROP COLUMN stored_at_ms; PRAGMA user_version = 1');
  await queue.pass(5000);
  const [one, two] = await Promise.all([queue.open(), queue.open()]);
  await queue.pass(1000);
  await tell(one!, 'b');
  await tell(old, 'c');
  expect(await two!.stats(TENANT)).toMatchObject({ messages: 3n, oldestAgeMs: 1000 });
  expect(await drain(await two!.consume(TENANT, { name: 'worker', ackWaitMs: 1000 }))).toEqual(['a', 'b', 'c']);
});

test('OPS-5: an SQLite file of something else is refused and left as it is', async () => {
  change('CREATE TABLE theirs (a)');
  await expect(queue.open()).rejects.toMatchObject({
    code: 'misconfigured',
    message: `${queue.file}: an SQLite file, but not a queue`,
  });
});

test('OPS-5: a file that is no database is corrupt', async () => {
  writeFileSync(queue.file, 'a letter to somebody, longer than the header of a database'.repeat(40));
  await expect(queue.open()).rejects.toMatchObject({ code: 'corrupt' });
});

test('OPS-5: a folder that cannot be made is misconfigured', async () => {
  writeFileSync(queue.file, '');
  await expect(queue.open({ folder: queue.file })).rejects.toMatchObject({ code: 'misconfigured' });
});

test('OPS-5: processes that come to a new file together share it', async () => {
  const brokers = await Promise.all([queue.open(), queue.open(), queue.open()]);
  await brokers[0].openQueue('acme', 1_000_000n);
  expect(await Promise.all(brokers.map((broker) => broker.queues()))).toEqual([['acme'], ['acme'], ['acme']]);
});

test('I26: a duplicate window without a bound is refused', async () => {
  for (const duplicateWindowMs of [0, 900_001, Infinity])
    await expect(queue.open({ duplicateWindowMs })).rejects.toMatchObject({ code: 'misconfigured' });
});

test('BRK-5: a queue made anew after its file was deleted gives no place of the old one again', async () => {
  const { broker, worker } = await queue.start();
  await tell(broker, 'a');
  const [old] = await worker.fetch(1, 0);
  await queue.pass(1000);
  const { broker: anew, worker: reader } = await queue.start({ folder: `${queue.folder}/anew` });
  await tell(anew, 'b');
  const [first] = await reader.fetch(1, 0);
  expect(first!.queue).not.toBe(old!.queue);
  expect(first!.seq).toBeGreaterThan(old!.seq);
  expect(await drain(reader)).toEqual([]);
});

function change(sql: string): void {
  const db = new Sqlite(queue.file);
  db.exec(sql);
  db.close();
}
