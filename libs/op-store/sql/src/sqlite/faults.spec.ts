import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Fault } from '@tidemark/libs-kernel';
import { anOp, someOps } from '@tidemark/libs-op-store-contract/testing';
import type { Op } from '@tidemark/libs-wire';
import Database from 'better-sqlite3';
import { mapError } from './map-error.ts';
import { LogWriter } from './log-writer.ts';
import { openToWrite } from './open-to-write.ts';
import { sqlitePrefixRegistry } from './prefix-registry.ts';
import { anAppend, Scratch, stored } from './scratch.ts';
import { CommitFailed } from './transaction.ts';

// Every commit is synced; a busy disk takes its time.
jest.setTimeout(60_000);

let scratch: Scratch;
beforeEach(() => (scratch = new Scratch()));
afterEach(() => scratch.remove());

describe('while another process writes', () => {
  let writer: Database.Database;
  beforeEach(async () => {
    await (await scratch.open()).close();
    writer = new Database(scratch.file);
    writer.exec('BEGIN IMMEDIATE');
  });
  afterEach(() => writer.close());

  it('S7: an append waits, while this thread reads, and is stored once the other is done', async () => {
    const { opStore } = await scratch.openWithThread();
    const appended = opStore.append('s', someOps(1));
    expect(await opStore.read('s', 0n, 10)).toEqual({ ops: [], next: 0n });
    writer.exec('COMMIT');
    expect(await appended).toEqual([{ kind: 'stored', seq: 1n }]);
  });

  it('S7: an append is refused for certain when the wait is over', async () => {
    const { opStore } = await scratch.openWithThread(100);
    await expect(opStore.append('s', someOps(1))).rejects.toMatchObject({
      code: 'unavailable',
      outcome: 'not-done',
      message: expect.stringContaining(scratch.file),
    });
  });

  it('OPS-3: an append that waits when the store is closed is still stored, and a later call is refused', async () => {
    const { opStore } = await scratch.openWithThread();
    const appended = opStore.append('s', someOps(1));
    const closed = opStore.close();
    await expect(opStore.append('s', someOps(2))).rejects.toMatchObject({ code: 'unavailable', outcome: 'not-done' });
    writer.exec('COMMIT');
    expect(await appended).toEqual([{ kind: 'stored', seq: 1n }]);
    await closed;
  });

  it('RLY-15: a known replica is answered without waiting', async () => {
    writer.exec(`INSERT INTO prefix_claims VALUES ('s', 'aaaa', 'uuid-A'); COMMIT; BEGIN IMMEDIATE`);
    const { prefixRegistry } = await scratch.open(0);
    expect(await prefixRegistry.register('s', 'aaaa', 'uuid-A')).toEqual({ outcome: 'registered' });
  });
});

describe('what has run out', () => {
  it('R13, OPS-6: a full disk refuses an append for certain; with room again the stream goes on where it was', async () => {
    await (await scratch.open()).close();
    const handle = openToWrite(scratch.file);
    const writer = new LogWriter({ file: scratch.file, busyTimeoutMs: 0 }, () => handle);
    const write = (...ops: Op[]) => writer.write([anAppend('s', ...ops)]).outcomes;
    expect(write(...someOps(2))).toEqual([stored(1n, 2n)]);
    handle.pragma('max_page_count = 1');
    const large = anOp({ opId: 'large', value: 'v'.repeat(100_000) });
    expect(write(large)).toMatchObject([{ kind: 'failed', fault: { code: 'disk_full', outcome: 'not-done' } }]);
    handle.pragma('max_page_count = 1000000');
    expect(write(large)).toEqual([stored(3n)]);
    writer.close();
  });

  it('RLY-15: a replica whose candidates are all taken is refused as unavailable, and claims nothing', async () => {
    const connection = await scratch.connect();
    const registry = sqlitePrefixRegistry(connection, 2);
    for (const prefix of ['aaaa', 'd7rm', 'w299']) await registry.register('s', prefix, `owner of ${prefix}`);
    await expect(registry.register('s', 'aaaa', 'uuid-B')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await registry.register('s', 'free', 'uuid-B')).toEqual({ outcome: 'registered' });
    await connection.close();
  });
});

describe('a file that cannot be used is refused in one line that names it', () => {
  const refusal = (code: string) => ({ code, message: expect.stringMatching(new RegExp(`^${scratch.file}[^\n]*$`)) });

  it('OPS-2: a folder in its place', async () => {
    mkdirSync(scratch.file);
    await expect(scratch.open()).rejects.toMatchObject(refusal('misconfigured'));
  });

  it('OPS-2: a file where its folder must be', async () => {
    const inside = new Scratch();
    writeFileSync(scratch.file, '');
    const file = path.join(scratch.file, 'below', 'ops.sqlite');
    await expect(Object.assign(inside, { file }).open()).rejects.toMatchObject(refusal('misconfigured'));
    await inside.remove();
  });

  it('OPS-2: something that is no database, which stays as it was', async () => {
    writeFileSync(scratch.file, 'not a database, but long enough to be taken for one'.repeat(100));
    await expect(scratch.open()).rejects.toMatchObject(refusal('corrupt'));
  });

  it('makes the folder when it is missing', async () => {
    const file = path.join(scratch.folder, 'a', 'b', 'ops.sqlite');
    const nested = Object.assign(new Scratch(), { file });
    expect(await (await nested.open()).opStore.head('s')).toBe(0n);
    await nested.remove();
  });
});

describe('what SQLite says becomes a fault', () => {
  const said = (code: string) => Object.assign(new Error('raw'), { code });

  test.each([
    ['SQLITE_BUSY_RECOVERY', 'unavailable', 'not-done'],
    ['SQLITE_IOERR_READ', 'unavailable', 'not-done'],
    ['SQLITE_FULL', 'disk_full', 'not-done'],
    ['SQLITE_CORRUPT_INDEX', 'corrupt', 'not-done'],
    ['SQLITE_READONLY_DIRECTORY', 'misconfigured', 'not-done'],
    ['SQLITE_CANTOPEN', 'misconfigured', 'not-done'],
    ['EACCES', 'misconfigured', 'not-done'],
    ['SQLITE_CONSTRAINT_TRIGGER', 'internal', 'unknown'],
  ])('OPS-6: %s is %s, %s', (code, fault, outcome) => {
    expect(mapError(said(code), 'ops.sqlite')).toMatchObject({ code: fault, outcome });
  });

  // kills: map-error.ts: isTold(code) ? => false ?
  it('SEC-2: what is wrong with a value is said without the file', () => {
    const fault = mapError(said('SQLITE_TOOBIG'), '/data/ops.sqlite');
    expect(fault).toMatchObject({ code: 'too_large', message: 'SQLite takes no text of this size' });
  });

  it('OPS-6: a disk error of COMMIT leaves the outcome open, a full disk there does not', () => {
    const failed = (code: string): Fault => mapError(new CommitFailed(said(code)), 'ops.sqlite');
    expect(failed('SQLITE_IOERR_FSYNC')).toMatchObject({ code: 'unknown_outcome', outcome: 'unknown' });
    expect(failed('SQLITE_FULL')).toMatchObject({ code: 'disk_full', outcome: 'not-done' });
  });
});
