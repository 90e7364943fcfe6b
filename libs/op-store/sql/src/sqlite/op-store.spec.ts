import { Fault } from '@tidemark/libs-kernel';
import { anOp, someOps } from '@tidemark/libs-op-store-contract/testing';
import { I64_MAX } from '@tidemark/libs-wire';
import Database from 'better-sqlite3';
import type { Writer } from './command.ts';
import { connectSqlite, storesOn } from './connect.ts';
import { SqliteConnection } from './connection.ts';
import { openFile } from './open-file.ts';
import { OP_COLUMNS } from './op-row.ts';
import { Scratch } from './scratch.ts';
import { ThreadWriter } from './thread-writer.ts';

// Every commit is synced; a busy disk takes its time.
jest.setTimeout(60_000);

let scratch: Scratch;
beforeEach(() => (scratch = new Scratch()));
afterEach(() => scratch.remove());

/** Changes the file past the adapter. */
function tamper(sql: string): void {
  const other = new Database(scratch.file);
  other.exec(sql);
  other.close();
}

describe('the op store in SQLite', () => {
  it('RLY-6, S8: syncs every commit: WAL with synchronous=FULL', async () => {
    const { dataSource, handle } = await openFile(scratch.file, 50);
    expect(handle.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(handle.pragma('synchronous', { simple: true })).toBe(2);
    await dataSource.destroy();
  });

  it('R13: an append that fails stores nothing of its call and burns no seq', async () => {
    const { opStore } = await scratch.open();
    await opStore.append('s', someOps(2));
    tamper(`CREATE TRIGGER refuse BEFORE INSERT ON stream_ops WHEN new.op_id = 'bad'
            BEGIN SELECT RAISE(ABORT, 'refused'); END`);
    await expect(opStore.append('s', [anOp({ opId: 'good' }), anOp({ opId: 'bad' })])).rejects.toBeInstanceOf(Fault);
    expect(await opStore.head('s')).toBe(2n);
    expect(await opStore.append('s', [anOp({ opId: 'good' })])).toEqual([{ kind: 'stored', seq: 3n }]);
  });

  // kills: append.ts: next <= I64_MAX && store.run => store.run
  it('OPS-6, RLY-5: a stream whose last seq is taken takes no op for certain, and answers repeats', async () => {
    await scratch.plant('s', I64_MAX - 1n, anOp({ opId: 'last but one' }));
    const { opStore } = await scratch.open();
    const noneLeft = { code: 'unavailable', outcome: 'not-done' };
    await expect(opStore.append('s', someOps(2))).rejects.toMatchObject(noneLeft);
    expect(await opStore.append('s', [anOp({ opId: 'last' })])).toEqual([{ kind: 'stored', seq: I64_MAX }]);
    await expect(opStore.append('s', someOps(1))).rejects.toMatchObject(noneLeft);
    expect(await opStore.append('s', [anOp({ opId: 'last' }), anOp({ opId: 'last but one' })])).toEqual([
      { kind: 'existing', seq: I64_MAX },
      { kind: 'existing', seq: I64_MAX - 1n },
    ]);
  });

  it('RLY-1: a cell of the wrong type fails the read with a fault that names stream, seq and column', async () => {
    const { opStore } = await scratch.open();
    for (const [column, value] of [
      ['site', "'many'"],
      ['lamport', '1.5'],
      ['author', "x'00'"],
      ['value', "x'00'"],
    ] as const) {
      await opStore.append(column, someOps(2));
      tamper(`UPDATE stream_ops SET ${column} = ${value} WHERE stream_id = '${column}' AND seq = 2`);
      await expect(opStore.read(column, 0n, 10)).rejects.toMatchObject({
        code: 'corrupt',
        message: expect.stringMatching(new RegExp(`"${column}", seq 2: .*${column}`)),
      });
    }
  });

  it('RLY-2: keeps U+0000 in text, and stream ids that are empty or hold it', async () => {
    const { opStore } = await scratch.open();
    const op = anOp({ opId: 'a\0b', value: '\0', author: 'x\0' });
    for (const stream of ['', 'a\0', 'a\0b']) await opStore.append(stream, [op]);
    expect((await opStore.read('a\0b', 0n, 10)).ops).toEqual([{ seq: 1n, op }]);
    expect((await opStore.streams(null, 10)).map(({ stream }) => stream)).toEqual(['', 'a\0', 'a\0b']);
    expect((await opStore.streams('', 1)).map(({ stream }) => stream)).toEqual(['a\0']);
  });

  // kills: erase.ts: const PART_OPS = 2000 => const PART_OPS = 2001
  it('RLY-3, RLY-19: a long stream is erased in parts, between which others write, and keeps what is appended meanwhile', async () => {
    const { file, time } = scratch;
    const options = { file, clock: time, sleeper: time, busyTimeoutMs: 0 };
    const thread = new ThreadWriter(options);
    const written: string[] = [];
    const write: Writer['write'] = async (batch) => {
      const answered = await thread.write(batch);
      for (const [i, { kind }] of batch.commands.entries()) {
        const answer = (answered.outcomes[i] as { answer: object }).answer;
        written.push('ops' in answer ? `${kind} ${String(answer.ops)}` : kind);
      }
      return answered;
    };
    const writer = { failed: thread.failed, write, close: () => thread.close() };
    const { opStore } = storesOn(await SqliteConnection.open(options, writer), time);
    for (let call = 0; call < 5; call++) await opStore.append('s', someOps(1000, `call-${call}`));
    written.length = 0;
    const erased = opStore.erase('s');
    // Joins the first part, and the second.
    const outcomes = [
      await opStore.append('s', [anOp({ opId: 'a' })]),
      await opStore.append('s', [anOp({ opId: 'b' })]),
    ];
    expect(await erased).toBe(5000n);
    expect(written).toEqual(['erase 2000', 'append', 'erase 2000', 'append', 'erase 1000']);
    expect(outcomes.flat().map(({ seq }) => seq)).toEqual([5001n, 5002n]);
    expect(await opStore.describe('s')).toEqual({ head: 5002n, burned: 5000n });
    expect((await opStore.read('s', 0n, 10)).ops.map(({ seq }) => seq)).toEqual([5001n, 5002n]);
    await opStore.close();
  });

  // kills: streams.ts: SELECT max(coalesce( => SELECT min(coalesce(
  it('RLY-3: an erased stream keeps its head also when another program has written it from 1 again', async () => {
    const { opStore } = await scratch.open();
    for (let turn = 0n; turn < 2n; turn++) {
      await opStore.append('s', someOps(3));
      expect(await opStore.erase('s')).toBe(3n);
      await scratch.plant('s', 1n, anOp({ opId: 'from 1' }));
      expect(await opStore.head('s')).toBe(3n + 4n * turn);
      expect(await opStore.append('s', [anOp({ opId: 'a' })])).toEqual([{ kind: 'stored', seq: 4n + 4n * turn }]);
      expect(await opStore.erase('s')).toBe(2n);
      expect(await opStore.head('s')).toBe(4n + 4n * turn);
    }
  });

  // kills: streams.ts: const COUNTED_MAX = 10_000 => const COUNTED_MAX = 10_000_000
  it('RLY-19: the ops of a long stream are counted in parts, between which this thread does other work', async () => {
    await (await scratch.open()).close();
    const rows = 'WITH RECURSIVE n (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n WHERE seq < 30000)';
    tamper(`${rows} INSERT INTO stream_ops (stream_id, seq, ${OP_COLUMNS})
      SELECT 's', seq * 2, 1, 'op-' || seq, 1, 1, 'task', '', '', '', '', NULL, '', '', '{}' FROM n`);
    let turns = 0;
    const sleeper = { sleep: (ms: number) => ((turns += 1), scratch.time.sleep(ms)) };
    const { opStore } = await connectSqlite({ file: scratch.file, clock: scratch.time, sleeper });
    expect(await opStore.describe('s')).toEqual({ head: 60_000n, burned: 30_000n });
    expect(turns).toBe(3);
    await opStore.close();
  });

  it('OPS-6, RLY-19: an erasure that breaks off after its first part says that some ops are gone', async () => {
    const { file, time } = scratch;
    const options = { file, clock: time, sleeper: time, busyTimeoutMs: 0 };
    const thread = new ThreadWriter(options);
    let erasures = 0;
    const write: Writer['write'] = (batch) => {
      const fails = batch.commands.some(({ kind }) => kind === 'erase') && ++erasures === 2;
      return fails ? Promise.reject(new Fault('unavailable', 'held by another')) : thread.write(batch);
    };
    const writer = { failed: thread.failed, write, close: () => thread.close() };
    const { opStore } = storesOn(await SqliteConnection.open(options, writer), time);
    for (let call = 0; call < 3; call++) await opStore.append('s', someOps(1000, `call-${call}`));
    await expect(opStore.erase('s')).rejects.toMatchObject({ code: 'unavailable', outcome: 'partly' });
    expect(await opStore.describe('s')).toEqual({ head: 3000n, burned: 2000n });
    expect(await opStore.erase('s')).toBe(1000n);
    await opStore.close();
  });

  it('FLD-1: VACUUM and deleted rows cost a follower at most what a full pass over the streams finds', async () => {
    const { opStore } = await scratch.open();
    await opStore.append('s', someOps(3));
    const position = await opStore.position();
    tamper(`DELETE FROM stream_ops WHERE seq = 3; VACUUM`);
    await opStore.append('s', someOps(4));
    expect((await opStore.changes(position, 10)).changed).toEqual([{ stream: 's', head: 4n }]);
    expect(await opStore.streams(null, 10)).toEqual([{ stream: 's', head: 4n }]);
  });

  it('FLD-1: a page of changes looks at a bounded number of rows, and later pages go on', async () => {
    const { opStore } = await scratch.open();
    const position = await opStore.position();
    for (let i = 0; i < 5; i++) await opStore.append('burst', someOps(1000, `call-${i}`));
    await opStore.append('behind', someOps(1));
    const first = await opStore.changes(position, 10);
    expect(first.changed).toEqual([{ stream: 'burst', head: 5000n }]);
    const second = await opStore.changes(first.position, 10);
    expect(second.changed.map(({ stream }) => stream)).toEqual(['burst', 'behind']);
  });

  it('RLY-19: listing streams steps through the key and never scans the ops', async () => {
    const { dataSource, handle } = await openFile(scratch.file, 50);
    const plan = handle
      .prepare('EXPLAIN QUERY PLAN SELECT min(stream_id) FROM stream_ops WHERE stream_id > ?')
      .all('s') as { detail: string }[];
    expect(plan.map(({ detail }) => detail).join()).toMatch(/^SEARCH stream_ops USING COVERING INDEX/);
    await dataSource.destroy();
  });
});
