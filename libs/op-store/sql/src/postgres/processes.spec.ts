import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { pooledTests } from '@tidemark/tools-services/testing';
import { Answered, killWriters, linesOf, startNode } from '../spec-processes.ts';
import { Scratch } from './scratch.ts';
import { sharedDatabase } from './spec-store.ts';

/** A server with a pooler before it: what holds through both ways in is asked of both. */
const serverTest = pooledTests();

/** A process is killed so often while it writes; what comes after meets no lock of it. */
async function killsAndGoesOn(scratch: Scratch, url: string): Promise<void> {
  const [answered, store] = [new Answered(), sharedDatabase(scratch, url)];
  await killWriters(store, 2, answered);
  expect(answered.count).toBeGreaterThan(2);
  const { opStore } = await store.open();
  for (const stream of ['s', 't']) await opStore.append(stream, [anOp({ opId: 'after' })]);
  const locks = await (await scratch.client()).query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted`);
  expect(locks.rows).toEqual([]);
}

/** Two processes with four writers each. */
async function shareOneStream(scratch: Scratch, urls: readonly [string, string]): Promise<void> {
  const script = `
    await Promise.all([0, 1, 2, 3].map(async (writer) => {
      for (let i = 0; i < 50; i++) {
        const opId = [name, writer, i].join('-');
        say('s', opId + '=' + (await stores.opStore.append('s', [anOp({ opId })]))[0].seq);
      }
    }));
    await stores.close();`;
  const answered = new Answered();
  const said = await Promise.all(
    urls.map((url, i) => linesOf(startNode(sharedDatabase(scratch, url), script, `p${i}`))),
  );
  for (const line of said.flat()) answered.add(line);
  expect(answered.count).toBe(400);
  await answered.verify(sharedDatabase(scratch));
  expect(await (await scratch.open()).opStore.head('s')).toBe(400n);
}

describe('processes on one database', () => {
  serverTest(
    'RLY-6, S1, S2, R38: killed with SIGKILL while it appends, a process loses no op that it acked and leaves no lock',
    async (_, postgres) => {
      const scratch = await new Scratch(postgres).make();
      await killsAndGoesOn(scratch, scratch.url);
      await scratch.remove();
    },
    120_000,
  );

  serverTest(
    'S1, RLY-6: the same through a pooler in transaction mode',
    async (pooler, postgres) => {
      const scratch = await Scratch.inDatabase(postgres);
      await killsAndGoesOn(scratch, scratch.through(pooler));
      await scratch.remove();
    },
    120_000,
  );

  serverTest(
    'RLY-18: two processes, one of them through a pooler, take exactly the seqs 1 to 400',
    async (pooler, postgres) => {
      const scratch = await Scratch.inDatabase(postgres);
      await shareOneStream(scratch, [scratch.url, scratch.through(pooler)]);
      await scratch.remove();
    },
    120_000,
  );
});

serverTest('RLY-14: a pooler that loses LISTEN is noticed, and said in one line', async (pooler, postgres) => {
  const scratch = await Scratch.inDatabase(postgres);
  const { opStore } = await scratch.open({ url: scratch.through(pooler) });
  const watching = opStore.watch(() => {});
  while (scratch.time.sleepers === 0) await opStore.ping();
  for (let i = 0; i < 20; i++) await opStore.ping();
  scratch.time.advance(5000);
  expect(await watching).toBeNull();
  expect(scratch.warnings).toEqual([expect.stringMatching(/^Postgres .* does not pass on LISTEN.*polling$/)]);
  await scratch.remove();
});
