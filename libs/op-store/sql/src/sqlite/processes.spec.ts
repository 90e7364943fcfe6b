import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { readAll } from '@tidemark/libs-op-store-contract/testing';
import Database from 'better-sqlite3';
import { Scratch } from './scratch.ts';

let scratch: Scratch;
beforeEach(() => (scratch = new Scratch()));
afterEach(() => scratch.remove());

/** What every child begins with: `stores` on the file, and `ack`, which is written before it returns. */
const PRELUDE = `
  import { writeSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  import { connectSqlite } from '${pathToFileURL(path.join(__dirname, 'connect.ts')).href}';
  import { anOp } from '@tidemark/libs-op-store-contract/testing';
  const [file, name] = process.argv.slice(1);
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  const stores = await connectSqlite({ file, clock, sleeper: { sleep: (ms) => setTimeout(ms) } });
  const ack = (opId, seq) => writeSync(1, opId + ' ' + seq + '\\n');
`;

type Child = ChildProcessByStdio<null, Readable, null>;

function start(script: string, name: string): Child {
  const options = ['--conditions=@tidemark/source', '--input-type=module', '--eval', PRELUDE + script];
  return spawn(process.execPath, [...options, scratch.file, name], {
    cwd: __dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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

describe('processes on one file', () => {
  it('RLY-6: ten times killed with SIGKILL while it appends, a process loses no op that it acked, and seqs stay dense', async () => {
    const random = new SeededRandom(6);
    const acked = new Map<string, bigint>();
    for (let kill = 0; kill < 10; kill++) {
      const writer = start(
        `for (let i = 0; ; i++) {
           const ops = Array.from({ length: 1 + (i % 3) }, (_, k) => anOp({ opId: [name, i, k].join('-'), value: 'v'.repeat(i % 900) }));
           const outcomes = await stores.opStore.append('s', ops);
           ops.forEach((op, k) => ack(op.opId, outcomes[k].seq));
         }`,
        `life-${kill}`,
      );
      const fatal = 1 + Math.floor(random.fraction() * 80);
      const acks = await acksOf(writer, (count) => count === fatal && writer.kill('SIGKILL'));
      for (const [opId, seq] of acks) acked.set(opId, seq);
      const { opStore } = await scratch.open();
      const stored = new Map((await readAll(opStore, 's', 1000)).map(({ seq, op }) => [op.opId, seq]));
      for (const [opId, seq] of acked) expect([opId, stored.get(opId)]).toEqual([opId, seq]);
      expect([...stored.values()]).toEqual(Array.from(stored, (_, i) => BigInt(i + 1)));
      await opStore.close();
    }
    expect(acked.size).toBeGreaterThan(100);
  }, 60_000);

  it('RLY-18: two processes with four writers each take exactly the seqs 1 to 400', async () => {
    const script = `
      await Promise.all([0, 1, 2, 3].map(async (writer) => {
        for (let i = 0; i < 50; i++) {
          const opId = [name, writer, i].join('-');
          ack(opId, (await stores.opStore.append('s', [anOp({ opId })]))[0].seq);
        }
      }));`;
    const acks = await Promise.all(['a', 'b'].map((name) => acksOf(start(script, name))));
    const seqs = acks.flatMap((map) => [...map.values()]).sort((a, b) => Number(a - b));
    expect(seqs).toEqual(Array.from({ length: 400 }, (_, i) => BigInt(i + 1)));
    const { opStore } = await scratch.open();
    const stored = (await readAll(opStore, 's', 150)).map(({ seq, op }) => [op.opId, seq] as const);
    expect(new Map(stored)).toEqual(new Map(acks.flatMap((map) => [...map])));
  }, 60_000);

  it('OPS-5: processes that open a file without a write-ahead log at once all succeed', async () => {
    new Database(scratch.file).exec('CREATE TABLE prefix_claims (stream_id, prefix, replica_uuid)').close();
    const script = `ack(name, await stores.opStore.head('s'))`;
    const opened = await Promise.all(['a', 'b', 'c', 'd'].map((name) => acksOf(start(script, name))));
    expect(opened.map((acks) => acks.size)).toEqual([1, 1, 1, 1]);
  }, 60_000);
});
