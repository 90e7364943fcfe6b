import Database from 'better-sqlite3';
import { readAll } from '@tidemark/libs-op-store-contract/testing';
import { Answered, killWriters, linesOf, startNode } from '../spec-processes.ts';
import { Scratch } from './scratch.ts';
import { sharedFile } from './spec-store.ts';

jest.setTimeout(120_000);

let scratch: Scratch;
beforeEach(() => (scratch = new Scratch()));
afterEach(() => scratch.remove());

describe('processes on one file', () => {
  it('RLY-6, R38: again and again killed with SIGKILL while it appends, a process loses no op that it answered, seqs stay dense, and a repeat of the push is answered the old ones', async () => {
    const answered = new Answered();
    await killWriters(sharedFile(scratch), 4, answered);
    expect(answered.count).toBeGreaterThan(50);
  });

  it('RLY-18: two processes with four writers each take exactly the seqs 1 to 400', async () => {
    const script = `
      await Promise.all([0, 1, 2, 3].map(async (writer) => {
        for (let i = 0; i < 50; i++) {
          const opId = [name, writer, i].join('-');
          say(opId, (await stores.opStore.append('s', [anOp({ opId })]))[0].seq);
        }
      }));`;
    const lines = (
      await Promise.all(['a', 'b'].map((name) => linesOf(startNode(sharedFile(scratch), script, name))))
    ).flat();
    const answered = new Map(lines.map(([opId, seq]) => [opId, BigInt(seq ?? 0)]));
    const seqs = [...answered.values()].sort((a, b) => Number(a - b));
    expect(seqs).toEqual(Array.from({ length: 400 }, (_, i) => BigInt(i + 1)));
    const { opStore } = await scratch.open();
    expect(new Map((await readAll(opStore, 's', 150)).map(({ seq, op }) => [op.opId, seq]))).toEqual(answered);
  });

  it('OPS-5: processes that open a file without a write-ahead log at once all succeed', async () => {
    new Database(scratch.file).exec('CREATE TABLE prefix_claims (stream_id, prefix, replica_uuid)').close();
    const script = `say(await stores.opStore.head('s'))`;
    const opened = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => linesOf(startNode(sharedFile(scratch), script, name))),
    );
    expect(opened).toEqual([[['0']], [['0']], [['0']], [['0']]]);
  });
});
