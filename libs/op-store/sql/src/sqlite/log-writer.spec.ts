import { existsSync, rmSync } from 'node:fs';
import { anOp, someOps } from '@tidemark/libs-op-store-contract/testing';
import Database from 'better-sqlite3';
import { LogWriter } from './log-writer.ts';
import type { Handle } from './open-file.ts';
import { openToWrite } from './open-to-write.ts';
import { anAppend, Scratch, stored } from './scratch.ts';

// Every commit is synced; a busy disk takes its time.
jest.setTimeout(60_000);

let scratch: Scratch;
/** Codes that the next COMMITs and checkpoints fail with; the work of a COMMIT is done when it fails. */
let commits: string[];
let checkpoints: (string | 'busy')[];
let opened: number;
/** Another process holds the file; how often a transaction was to begin meanwhile. */
let held: boolean;
let tries: number;
let writer: LogWriter;

beforeEach(async () => {
  scratch = new Scratch();
  await (await scratch.open()).close();
  [commits, checkpoints, opened, held, tries] = [[], [], 0, false, 0];
  writer = new LogWriter({ file: scratch.file, busyTimeoutMs: 0 }, () => scripted(openToWrite(scratch.file)));
});
afterEach(async () => {
  writer.close();
  await scratch.remove();
});

function scripted(handle: Handle): Handle {
  opened++;
  return new Proxy(handle, {
    get(_, name) {
      if (name === 'prepare') return prepare;
      if (name === 'pragma') return checkpoint;
      const value = Reflect.get(handle, name) as unknown;
      return typeof value === 'function' ? value.bind(handle) : value;
    },
  });

  function prepare(sql: string) {
    if (sql === 'COMMIT') return failing(sql, () => commits.shift());
    if (sql === 'BEGIN IMMEDIATE') return failing(sql, () => (held && tries++ < 100 ? 'SQLITE_BUSY' : undefined));
    return handle.prepare(sql);
  }

  function failing(sql: string, next: () => string | undefined) {
    const statement = handle.prepare(sql);
    return {
      run() {
        const code = next();
        if (code === undefined) return statement.run();
        throw saying(code);
      },
    };
  }

  function checkpoint(sql: string, options: { simple: true }): unknown {
    const code = checkpoints.shift();
    if (code === undefined) return handle.pragma(sql, options);
    if (code === 'busy') return 1;
    throw saying(code);
  }
}

const saying = (code: string) => Object.assign(new Error('raw'), { code });
const append = (...ids: string[]) => writer.write(ids.map((opId) => anAppend('s', anOp({ opId }))));
const idsAt = () => {
  const handle = new Database(scratch.file, { readonly: true });
  const ids = handle.prepare('SELECT seq || op_id FROM stream_ops ORDER BY seq').pluck().all();
  handle.close();
  return ids;
};
const failed = (code: string, outcome: string) => ({ kind: 'failed', fault: { code, outcome } });

describe('a head that is remembered', () => {
  // kills: heads.ts: version !== this.#knownAt => this.#knownAt === undefined
  it('RLY-4: is asked for again when another connection has written', () => {
    append('a');
    const other = new LogWriter({ file: scratch.file, busyTimeoutMs: 0 }, () => openToWrite(scratch.file));
    expect(other.write([anAppend('s', anOp({ opId: 'b' }))]).outcomes).toEqual([stored(2n)]);
    expect(append('c').outcomes).toEqual([stored(3n)]);
    expect(other.write([anAppend('s', anOp({ opId: 'd' }))]).outcomes).toEqual([stored(4n)]);
    other.close();
  });

  // kills: heads.ts: this.#knownAt = undefined => void 0
  it('RLY-4: is that of what was stored, when a transaction is rolled back', () => {
    append('a');
    commits = ['SQLITE_BUSY'];
    expect(append('b', 'c').outcomes).toMatchObject([
      failed('unavailable', 'not-done'),
      failed('unavailable', 'not-done'),
    ]);
    expect(append('d').outcomes).toEqual([stored(2n)]);
    expect(idsAt()).toEqual(['1a', '2d']);
  });

  // kills: append.ts: heads.moved(stream, next - 1n) => heads.moved(stream, next)
  it('RLY-4: counts what was stored, not what was there already', () => {
    append('a', 'a', 'b');
    append('b', 'c', 'a');
    append('d');
    expect(idsAt()).toEqual(['1a', '2b', '3c', '4d']);
  });
});

describe('while another process holds the file', () => {
  const busy = { outcomes: [failed('unavailable', 'not-done')] };
  const next = (opId: string) => writer.write([anAppend('s', anOp({ opId }))], false);
  beforeEach(() => {
    writer = new LogWriter({ file: scratch.file, busyTimeoutMs: 100 }, () => scripted(openToWrite(scratch.file)));
    held = true;
  });

  // kills: log-writer.ts: if (first) this.#triesLeft => this.#triesLeft
  // kills: log-writer.ts: --this.#triesLeft <= 0 => --this.#triesLeft < 0
  it('S7, RLY-10: batches wait together, not one after the other', () => {
    expect(append('a')).toMatchObject(busy);
    expect(tries).toBe(5);
    for (const id of ['b', 'c']) expect(next(id)).toMatchObject(busy);
    expect(tries).toBe(7);
  });

  it('S7: a batch before which nothing waited waits anew', () => {
    for (const id of ['a', 'b']) expect(append(id)).toMatchObject(busy);
    expect(tries).toBe(10);
  });

  // kills: log-writer.ts: const result = work(); => return work();
  it('S7: a batch waits anew when the file could be written meanwhile', () => {
    append('a');
    held = false;
    expect(next('b').outcomes).toEqual([stored(1n)]);
    held = true;
    expect(next('c')).toMatchObject(busy);
    expect(tries).toBe(10);
  });
});

describe('a COMMIT that a disk error leaves open', () => {
  // kills: map-error.ts: thrown instanceof CommitFailed && !['SQLITE_BUSY' => false && !['SQLITE_BUSY'
  it('RLY-6, OPS-6: leaves every call of its batch unknown, and the file is opened anew and its log emptied before the next write', () => {
    expect(append('before').outcomes).toEqual([stored(1n)]);
    commits = ['SQLITE_IOERR_FSYNC'];
    const unknown = failed('unknown_outcome', 'unknown');
    expect(append('a', 'b')).toMatchObject({ outcomes: [unknown, unknown], fatal: null });
    expect(opened).toBe(1);
    expect(append('c')).toEqual({ outcomes: [stored(2n)], fatal: null });
    expect(opened).toBe(2);
  });

  it('RLY-6: refuses writes for certain while the log cannot be emptied because it is in use', () => {
    commits = ['SQLITE_IOERR_FSYNC'];
    checkpoints = ['busy', 'busy'];
    append('a');
    for (const id of ['b', 'c'])
      expect(append(id)).toMatchObject({ outcomes: [failed('unavailable', 'not-done')], fatal: null });
    expect(append('d').outcomes).toEqual([stored(1n)]);
  });

  it('RLY-6, OPS-6: refuses writes as on a full disk while there is no space to empty the log into', () => {
    commits = ['SQLITE_IOERR_SHMSIZE'];
    checkpoints = ['SQLITE_FULL'];
    expect(append('a').outcomes).toMatchObject([failed('unknown_outcome', 'unknown')]);
    expect(append('b')).toMatchObject({ outcomes: [failed('disk_full', 'not-done')], fatal: null });
    expect(append('c').outcomes).toEqual([stored(1n)]);
  });

  it.each([
    ['while the log is emptied', [], ['SQLITE_IOERR_FSYNC'], 'unavailable'],
    ['of a later COMMIT', ['SQLITE_IOERR_WRITE'], [], 'unknown_outcome'],
  ])('RLY-6: is fatal the second time, %s: nothing is written any more', (_, later, emptying, code) => {
    commits = ['SQLITE_IOERR_FSYNC', ...later];
    checkpoints = [...emptying];
    append('a');
    expect(append('b')).toMatchObject({ outcomes: [{ fault: { code } }], fatal: { code } });
    expect(append('c')).toMatchObject({ outcomes: [failed('unavailable', 'not-done')], fatal: { code } });
    expect(opened).toBe(2);
  });
});

describe('a batch of which a command fails', () => {
  beforeEach(() =>
    tamper(`CREATE TRIGGER refuse BEFORE INSERT ON stream_ops WHEN new.op_id LIKE 'bad%'
            BEGIN SELECT RAISE(ABORT, 'refused'); END`),
  );

  // kills: log-writer.ts: batch.length > 1 && halvesMayStand => batch.length > 9 && halvesMayStand
  it('R13: stores the others, in their order and without a gap', () => {
    const { outcomes } = append('a', 'bad-1', 'b', 'c', 'bad-2', 'd');
    expect(outcomes).toMatchObject([
      stored(1n),
      { kind: 'failed' },
      stored(2n),
      stored(3n),
      { kind: 'failed' },
      stored(4n),
    ]);
  });

  it('R13: stores nothing of the command that failed', () => {
    const half = anAppend('s', anOp({ opId: 'good' }), anOp({ opId: 'bad' }));
    const { outcomes } = writer.write([half, anAppend('t', ...someOps(1)), anAppend('s', anOp({ opId: 'good' }))]);
    expect(outcomes).toMatchObject([{ kind: 'failed' }, stored(1n), stored(1n)]);
  });
});

it('OPS-6: a disk that is full for a large command takes the small ones beside it', () => {
  const handle = openToWrite(scratch.file);
  writer = new LogWriter({ file: scratch.file, busyTimeoutMs: 0 }, () => handle);
  expect(append('first').outcomes).toEqual([stored(1n)]);
  const pages = handle.pragma('page_count', { simple: true }) as number;
  handle.pragma(`max_page_count = ${pages + 2}`);
  const large = anAppend('s', anOp({ opId: 'large', value: 'v'.repeat(100_000) }));
  const { outcomes } = writer.write([anAppend('s', anOp({ opId: 'a' })), large, anAppend('s', anOp({ opId: 'b' }))]);
  expect(outcomes).toMatchObject([stored(2n), failed('disk_full', 'not-done'), stored(3n)]);
  handle.pragma('max_page_count = 1000000');
  expect(writer.write([large]).outcomes).toEqual([stored(4n)]);
});

it('OPS-2: a file that has vanished is not made anew', () => {
  rmSync(scratch.file);
  expect(append('a').outcomes).toMatchObject([failed('misconfigured', 'not-done')]);
  expect(existsSync(scratch.file)).toBe(false);
});

/** Changes the file past the adapter. */
function tamper(sql: string): void {
  const other = new Database(scratch.file);
  other.exec(sql);
  other.close();
}
