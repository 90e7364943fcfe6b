import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { anOp, readAll } from '@tidemark/libs-op-store-contract/testing';
import { pooledTests } from '@tidemark/tools-services/testing';
import { Scratch } from './scratch.ts';

/** A server with a pooler before it: what holds through both ways in is asked of both. */
const serverTest = pooledTests();

/** What every child begins with: `stores` on the database, and `ack`, which is written before it returns. */
const PRELUDE = `
  import { writeSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  import { connectPostgres } from '${pathToFileURL(path.join(__dirname, 'connect.ts')).href}';
  import { anOp } from '@tidemark/libs-op-store-contract/testing';
  const [url, name] = process.argv.slice(1);
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  const random = { bytes: (n) => crypto.getRandomValues(new Uint8Array(n)), fraction: () => Math.random() };
  const stores = await connectPostgres({ url, clock, random, sleeper: { sleep: (ms) => setTimeout(ms) }, warn: () => {} });
  const ack = (opId, seq) => writeSync(1, opId + ' ' + seq + '\\n');
`;

type Child = ChildProcessByStdio<null, Readable, null>;

function start(url: string, script: string, name: string): Child {
  const options = ['--conditions=@tidemark/source', '--input-type=module', '--eval', PRELUDE + script];
  return spawn(process.execPath, [...options, url, name], { cwd: __dirname, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Op ids with their acked seqs, until the child ends; `onAck` sees how many there are. */
async function acksOf(child: Child, onAck: (count: number) => void = () => {}): Promise<Map<string, bigint>> {
  const acks = new Map<string, bigint>();
  const ended = once(child, 'exit');
  for await (const line of createInterface(child.stdout)) {
    const [opId, seq] = line.split(' ') as [string, string];
    acks.set(opId, BigInt(seq));
    onAck(acks.size);
  }
  await ended;
  return acks;
}

async function expectDense(opStore: OpStore, acked: ReadonlyMap<string, bigint>): Promise<void> {
  const stored = new Map((await readAll(opStore, 's', 1000)).map(({ seq, op }) => [op.opId, seq]));
  for (const [opId, seq] of acked) expect([opId, stored.get(opId)]).toEqual([opId, seq]);
  expect([...stored.values()]).toEqual(Array.from(stored, (_, i) => BigInt(i + 1)));
}

const KILLS = 2;

/** Four appends are under way when the kill comes, so one of them holds the lock or waits for it. */
const WRITER = `
  await Promise.all([0, 1, 2, 3].map(async (writer) => {
    for (let i = 0; ; i++) {
      const ops = Array.from({ length: 1 + (i % 3) }, (_, k) => anOp({ opId: [name, writer, i, k].join('-'), value: 'v'.repeat(i % 900) }));
      const outcomes = await stores.opStore.append('s', ops);
      ops.forEach((op, k) => ack(op.opId, outcomes[k].seq));
    }
  }));`;

async function killsAndGoesOn(scratch: Scratch, url: string): Promise<void> {
  const random = new SeededRandom(6);
  const { opStore } = await scratch.open({ lockTimeoutMs: 2000 });
  const acked = new Map<string, bigint>();
  for (let kill = 0; kill < KILLS; kill++) {
    const writer = start(url, WRITER, `life-${kill}`);
    const fatal = 1 + Math.floor(random.fraction() * 80);
    const acks = await acksOf(writer, (count) => count === fatal && writer.kill('SIGKILL'));
    for (const [opId, seq] of acks) acked.set(opId, seq);
    // Is stored within the lock timeout, or fails.
    await opStore.append('s', [anOp({ opId: `after-${kill}` })]);
    await expectDense(opStore, acked);
  }
  expect(acked.size).toBeGreaterThan(KILLS);
  const locks = await (await scratch.client()).query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted`);
  expect(locks.rows).toEqual([]);
}

/** Two processes with four writers each. */
async function shareOneStream(scratch: Scratch, urls: readonly [string, string]): Promise<void> {
  const { opStore } = await scratch.open();
  const script = `
    await Promise.all([0, 1, 2, 3].map(async (writer) => {
      for (let i = 0; i < 50; i++) {
        const opId = [name, writer, i].join('-');
        ack(opId, (await stores.opStore.append('s', [anOp({ opId })]))[0].seq);
      }
    }));
    await stores.close();`;
  const acks = await Promise.all(urls.map((url, i) => acksOf(start(url, script, `p${i}`))));
  const all = new Map(acks.flatMap((map) => [...map]));
  expect(all.size).toBe(400);
  await expectDense(opStore, all);
  expect(await opStore.head('s')).toBe(400n);
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
