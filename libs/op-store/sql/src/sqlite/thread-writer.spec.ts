import { readFileSync } from 'node:fs';
import { anOp, readAll, someOps } from '@tidemark/libs-op-store-contract/testing';
import Database from 'better-sqlite3';
import type { SqliteStores } from './connect.ts';
import { Scratch } from './scratch.ts';
import { ThreadWriter } from './thread-writer.ts';

// Every commit is synced; a busy disk takes its time.
jest.setTimeout(60_000);

let scratch: Scratch;
beforeEach(() => (scratch = new Scratch()));
afterEach(() => scratch.remove());

it('RLY-4, RLY-6: 64 appends to many streams that wait together are one transaction, and each is told its own seqs', async () => {
  const { opStore } = await scratch.openWithThread();
  await opStore.append('first', someOps(1));
  const before = transactions();
  const appends = Array.from({ length: 64 }, (_, i) => opStore.append(`s${i % 4}`, [anOp({ opId: `op-${i}` })]));
  const outcomes = await Promise.all(appends);
  expect(transactions() - before).toBe(1);
  expect(outcomes).toEqual(outcomes.map((_, i) => [{ kind: 'stored', seq: BigInt(Math.floor(i / 4) + 1) }]));
  const ids = (await readAll(opStore, 's1', 5)).map(({ op }) => op.opId);
  expect(ids).toEqual(Array.from({ length: 16 }, (_, i) => `op-${4 * i + 1}`));
});

describe('while another process holds the file', () => {
  let release: () => void;
  let opStore: SqliteStores['opStore'];
  let before: number;
  beforeEach(async () => {
    ({ opStore } = await scratch.openWithThread(60_000));
    await opStore.append('first', someOps(1));
    before = transactions();
    const other = new Database(scratch.file);
    other.exec('BEGIN IMMEDIATE');
    release = () => {
      other.exec('COMMIT');
      other.close();
    };
  });

  /** Each in a turn of its own, so that each is sent by itself. */
  async function appendInTurns(...sizes: number[]): Promise<Promise<unknown>[]> {
    const appends: Promise<unknown>[] = [];
    for (const [i, size] of sizes.entries()) {
      appends.push(opStore.append('s', someOps(size, `call-${i}`)));
      await new Promise(setImmediate);
    }
    return appends;
  }

  // kills: writer-thread.ts: splice(0, countThatFit(waiting)) => splice(0, 1)
  it('RLY-4, RLY-6: appends of many turns are stored by two transactions, in their order', async () => {
    const appends = await appendInTurns(1, 1, 1, 1, 1, 1);
    release();
    await Promise.all(appends);
    // The first was taken before the others came.
    expect(transactions() - before).toBeLessThanOrEqual(2);
    const ids = (await readAll(opStore, 's', 10)).map(({ op }) => op.opId);
    expect(ids).toEqual(Array.from({ length: 6 }, (_, i) => expect.stringContaining(`call-${i}`)));
  });

  // kills: writer-thread.ts: splice(0, countThatFit(waiting)) => splice(0)
  it('OPS-4: a transaction takes ten thousand rows of many turns', async () => {
    const appends = await appendInTurns(6000, 6000, 6000);
    release();
    await Promise.all(appends);
    expect(transactions() - before).toBe(3);
    expect(await opStore.head('s')).toBe(18_000n);
  });
});

it('RLY-5: a repeat that waits beside the first is answered its seq', async () => {
  const { opStore } = await scratch.openWithThread();
  const both = await Promise.all([opStore.append('s', someOps(2)), opStore.append('s', someOps(3))]);
  const kinds = both.map((outcomes) => outcomes.map(({ kind, seq }) => `${kind} ${seq}`));
  expect(kinds).toEqual([
    ['stored 1', 'stored 2'],
    ['existing 1', 'existing 2', 'stored 3'],
  ]);
});

it('OPS-3: a close lets the appends that wait end, and leaves no log behind', async () => {
  const { opStore, close } = await scratch.openWithThread();
  const appends = Promise.all(Array.from({ length: 10 }, (_, i) => opStore.append('s', someOps(1000, `call-${i}`))));
  await close();
  expect((await appends).flat()).toHaveLength(10_000);
  expect(() => readFileSync(`${scratch.file}-wal`)).toThrow('ENOENT');
  expect(await (await scratch.open()).opStore.head('s')).toBe(10_000n);
});

it('OPS-6: a thread that dies leaves what it was sent unknown, refuses the next one for certain, and is told', async () => {
  const writer = new ThreadWriter({ file: scratch.file, busyTimeoutMs: 0 });
  const failed = expect(writer.failed).rejects.toMatchObject({ code: 'unavailable' });
  const nothing = { commands: [], weight: { rows: 0, units: 0 }, first: true };
  // What is no batch cannot be written: the thread throws.
  const sent = [writer.write({} as never), writer.write(nothing)];
  for (const write of sent) {
    await expect(write).rejects.toMatchObject({ code: 'unknown_outcome', outcome: 'unknown' });
  }
  await failed;
  await expect(writer.write(nothing)).rejects.toMatchObject({ code: 'unavailable', outcome: 'not-done' });
  await writer.close();
});

/** Committed transactions in SQLite's log: frames whose header names the file's size after the commit. */
function transactions(): number {
  const log = readFileSync(`${scratch.file}-wal`);
  const frameBytes = 24 + log.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    const ofThisLog = log.readUInt32BE(at + 8) === log.readUInt32BE(16);
    if (ofThisLog && log.readUInt32BE(at + 4) !== 0) commits++;
  }
  return commits;
}

it('S7: an append is stored although another process holds the file at first', async () => {
  const { opStore } = await scratch.openWithThread();
  const other = new Database(scratch.file);
  other.exec('BEGIN IMMEDIATE');
  const appended = opStore.append('s', someOps(1));
  other.exec('COMMIT');
  other.close();
  expect(await appended).toEqual([{ kind: 'stored', seq: 1n }]);
});
