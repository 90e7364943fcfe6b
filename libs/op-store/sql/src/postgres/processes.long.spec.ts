import { pooledTests, serverTests, startedHere } from '@tidemark/tools-services/testing';
import { Answered, killWriters, writeBeside } from '../spec-processes.ts';
import { Scratch } from './scratch.ts';
import { sharedDatabase } from './spec-store.ts';

const serverTest = pooledTests();
const ownServerTest = serverTests('postgres', () => ({ env: { ...process.env, DATABASE_URL: '' } }));

async function killsBeside(scratch: Scratch, url: string, kills: number): Promise<void> {
  const [answered, beside, store] = [new Answered(), new Answered(), sharedDatabase(scratch, url)];
  await (await store.open()).opStore.close();
  const other = writeBeside(sharedDatabase(scratch), beside);
  await killWriters(store, kills, answered);
  await other.stop();
  expect(beside.count).toBeGreaterThan(kills);
  await beside.verify(store);
  const locks = await (await scratch.client()).query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted`);
  expect(locks.rows).toEqual([]);
}

serverTest(
  'RLY-6, RLY-18, R38: 200 times killed beside another process that writes, a process loses no op that it answered',
  async (_, postgres) => {
    const scratch = await new Scratch(postgres).make();
    await killsBeside(scratch, scratch.url, 200);
    await scratch.remove();
  },
  3_600_000,
);

serverTest(
  'S1, RLY-6, RLY-18: 40 times killed behind a pooler in transaction mode, the same',
  async (pooler, postgres) => {
    const scratch = await Scratch.inDatabase(postgres);
    await killsBeside(scratch, scratch.through(pooler), 40);
    await scratch.remove();
  },
  1_800_000,
);

ownServerTest(
  'RLY-6, RLY-18: 20 times the server is killed under two writing processes; nothing answered is lost, nothing is doubled',
  async (postgres) => {
    if (!startedHere('kill -9 of Postgres', postgres)) return;
    const scratch = await new Scratch(postgres.endpoint).make();
    const store = sharedDatabase(scratch);
    await (await store.open()).opStore.close();
    const answered = new Answered();
    const writers = ['a', 'b'].map((name) => writeBeside(store, answered, name));
    for (let kill = 1; kill <= 20; kill++) {
      await Promise.all(writers.map((writer) => writer.answers(60 * kill)));
      await postgres.server.crash();
      await postgres.server.restart();
    }
    await Promise.all(writers.map((writer) => writer.answers(60 * 21)));
    for (const writer of writers) await writer.stop();
    await answered.verify(store);
    await scratch.remove();
  },
  1_800_000,
);
